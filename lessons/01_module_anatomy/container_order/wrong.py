# nothing to break: Complete `Chain(steps, order)`

# %% calls_the_list
# misconception: calls the ModuleList itself | hint: container_without_forward
# edits: registered_twice
-        self.run = nn.Sequential(*[self.steps[i] for i in order])
@@
-        return self.run(x)
+        return self.steps(x)

# %% class_level_container
# misconception: one container for all chains, in the class body | hint: anatomy_kept_on_the_class
# edits: sequential_as_list
 class Chain(nn.Module):
+    steps = nn.ModuleList()
+
@@
-        self.steps = nn.Sequential(*steps)
+        self.steps.extend(steps)

# %% copies_the_steps
# misconception: keeps copies | hint: copied_steps
# breaks: unchanged
# edits: sequential_as_list
+from copy import deepcopy
+
+
 class Chain(nn.Module):
@@
-        self.steps = nn.Sequential(*steps)
+        self.steps = nn.ModuleList(deepcopy(steps))

# %% given_order
# misconception: runs the steps as they were passed | hint: given_order
# breaks: the steps that `order` names
# edits: calls_the_list
-        self.steps = nn.ModuleList(steps)
+        self.steps = nn.Sequential(*steps)

# %% iterator_kept
# misconception: keeps an iterator instead of a list | hint: consumes_order
# edits: sequential_as_list
-        self.steps = nn.Sequential(*steps)
+        self.steps = nn.ModuleList(steps)
+        self.order = iter(order)

# %% no_return
# misconception: forgets to return | hint: returns_nothing
# edits: calls_the_list
-        return self.steps(x)
+        for i in self.order:
+            x = self.steps[i](x)

# %% detaches
# misconception: cuts the graph after each step | hint: gradient_cut
# edits: no_return
-            x = self.steps[i](x)
+            x = self.steps[i](x).detach()
+        return x

# %% backwards
# misconception: runs from the end of the order | hint: anatomy_reversed_order | canary
# breaks: one after the other
# edits: detaches
-        for i in self.order:
-            x = self.steps[i](x).detach()
+        for i in reversed(self.order):
+            x = self.steps[i](x)

# %% calls_the_index
# misconception: calls the entries of the order | hint: anatomy_index_for_module
# edits: backwards
-        for i in reversed(self.order):
-            x = self.steps[i](x)
+        for step in self.order:
+            x = step(x)

# %% each_step_once
# misconception: uses every step once, as often as the order may say | hint: step_used_once
# breaks: An index may appear several times
# edits: backwards
-        for i in reversed(self.order):
+        for i in dict.fromkeys(self.order):

# %% layers_for_steps
# misconception: keeps the steps under another name | hint: anatomy_other_names
# breaks: `self.steps` is a container
# edits: detaches
-        self.steps = nn.ModuleList(steps)
+        self.layers = nn.ModuleList(steps)
@@
-            x = self.steps[i](x).detach()
+            x = self.layers[i](x)

# %% list_of_results
# misconception: returns what every step made | hint: anatomy_all_results
# edits: no_return
+        outs = []
         for i in self.order:
@@
+            outs.append(x)
+        return outs

# %% local_container
# misconception: keeps the container in a local variable | hint: attributes_missing
# edits: no_return
-        self.steps = nn.ModuleList(steps)
+        steps = nn.ModuleList(steps)
@@
+        return x

# %% no_super
# misconception: forgets super().__init__() | hint: init_forgotten
# edits: iterator_kept
-        super().__init__()
@@
-        self.order = iter(order)

# %% not_passed_on
# misconception: feeds x to every step | hint: result_not_passed_on
# breaks: one after the other
# edits: no_return
-            x = self.steps[i](x)
+            out = self.steps[i](x)
+        return out

# %% only_ordered_steps
# misconception: registers only the steps that run, and sorts them | hint: steps_dropped
# breaks: holds all `steps`
# edits: sequential_as_list
-        self.steps = nn.Sequential(*steps)
+        self.steps = nn.ModuleList(steps[i] for i in sorted(set(order)))
+        self.order = [sorted(set(order)).index(i) for i in order]

# %% order_typed_in
# misconception: types the order of the example | hint: anatomy_order_of_example
# edits: backwards
-        for i in reversed(self.order):
+        for i in [1, 0]:

# %% order_without_self
# misconception: forgets self | hint: anatomy_read_without_self
# edits: backwards
-        for i in reversed(self.order):
+        for i in order:

# %% overwrites_input
# misconception: writes into the input | hint: overwrites_input
# edits: backwards
-        for i in reversed(self.order):
-            x = self.steps[i](x)
+        with torch.no_grad():
+            for i in self.order:
+                x.copy_(self.steps[i](x))

# %% python_list
# misconception: keeps the steps in a python list | hint: python_list
# breaks: the names of their parameters begin with
# edits: sequential_as_list
-        self.steps = nn.Sequential(*steps)
+        self.steps = steps

# %% pops_order
# misconception: empties the order in the first call | hint: consumes_order
# edits: registered_twice
-        self.run = nn.Sequential(*[self.steps[i] for i in order])
+        self.order = list(order)
@@
-        return self.run(x)
+        while self.order:
+            x = self.steps[self.order.pop(0)](x)
+        return x

# %% run_order_container
# misconception: registers the steps in run order | hint: registered_in_run_order
# breaks: in the same order
# edits: calls_the_list
-        self.steps = nn.ModuleList(steps)
+        self.steps = nn.Sequential(*[steps[i] for i in order])

# %% searches_the_order
# misconception: asks at which place a step stands | hint: anatomy_inverted_order
# edits: backwards
-        for i in reversed(self.order):
-            x = self.steps[i](x)
+        for i in range(len(self.steps)):
+            x = self.steps[self.order.index(i)](x)

# %% sorted_order
# misconception: runs the steps by index | hint: given_order
# edits: backwards
-        for i in reversed(self.order):
+        for i in sorted(self.order):

# %% star_in_module_list
# misconception: hands the steps to ModuleList one by one | hint: anatomy_container_arguments
# edits: local_container
-        steps = nn.ModuleList(steps)
+        self.steps = nn.ModuleList(*steps)

# %% empties_callers_list
# misconception: takes the steps out of the list that was passed | hint: anatomy_changes_the_rest
# edits: local_container
-        steps = nn.ModuleList(steps)
+        self.steps = nn.ModuleList()
+        while steps:
+            self.steps.append(steps.pop(0))
