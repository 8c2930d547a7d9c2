# nothing to break: Complete `Chain(steps, order)`.

# %% backwards
# misconception: runs from the end of the order | hint: anatomy_reversed_order
# breaks: the input goes through `steps[2]` first
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in reversed(self.order):
            x = self.steps[i](x)
        return x

# %% calls_the_index
# misconception: calls the entries of the order | hint: anatomy_index_for_module
# edits: backwards
-        for i in reversed(self.order):
-            x = self.steps[i](x)
+        for step in self.order:
+            x = step(x)

# %% calls_the_list
# misconception: calls the ModuleList itself | hint: container_without_forward
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.steps(x)

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
# breaks: Keep the modules themselves, not copies of them.
# edits: sequential_as_list
+from copy import deepcopy
+
+
 class Chain(nn.Module):
@@
-        self.steps = nn.Sequential(*steps)
+        self.steps = nn.ModuleList(deepcopy(steps))

# %% detaches
# misconception: cuts the graph after each step | hint: gradient_cut
# edits: backwards
-        for i in reversed(self.order):
-            x = self.steps[i](x)
+        for i in self.order:
+            x = self.steps[i](x).detach()

# %% each_step_once
# misconception: uses every step once, as often as the order may say | hint: step_used_once
# breaks: An index may appear twice, or not at all.
# edits: backwards
-        for i in reversed(self.order):
+        for i in dict.fromkeys(self.order):

# %% empties_callers_list
# misconception: takes the steps out of the list that was handed in | hint: anatomy_changes_callers_list
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList()
        while steps:
            self.steps.append(steps.pop(0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order:
            x = self.steps[i](x)
        return x

# %% given_order
# misconception: runs the steps as they were handed in | hint: given_order
# edits: calls_the_list
-        self.steps = nn.ModuleList(steps)
+        self.steps = nn.Sequential(*steps)

# %% iterator_kept
# misconception: keeps an iterator instead of a list | hint: consumes_order
# edits: sequential_as_list
-        self.steps = nn.Sequential(*steps)
+        self.steps = nn.ModuleList(steps)
+        self.order = iter(order)

# %% layers_for_steps
# misconception: keeps the steps under another name | hint: anatomy_other_names
# edits: detaches
-        self.steps = nn.ModuleList(steps)
+        self.layers = nn.ModuleList(steps)
@@
-            x = self.steps[i](x).detach()
+            x = self.layers[i](x)

# %% list_of_results
# misconception: returns what every step made | hint: anatomy_all_results
# breaks: returns the result of the last step
# edits: calls_the_list
-        return self.steps(x)
+        outs = []
+        for i in self.order:
+            x = self.steps[i](x)
+            outs.append(x)
+        return outs

# %% local_container
# misconception: keeps the container in a local variable | hint: attributes_missing
# edits: empties_callers_list
-        self.steps = nn.ModuleList()
-        while steps:
-            self.steps.append(steps.pop(0))
+        steps = nn.ModuleList(steps)

# %% misspelt_container
# misconception: a container that torch does not have | hint: anatomy_misspelt_method
# edits: sequential_as_list
-        self.steps = nn.Sequential(*steps)
+        self.steps = nn.Modulelist(steps)

# %% no_grad
# misconception: computes without autograd | hint: gradient_cut
# breaks: Gradients reach the steps
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    @torch.no_grad()
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order:
            x = self.steps[i](x)
        return x

# %% no_return
# misconception: forgets to return | hint: returns_nothing
# edits: calls_the_list
-        return self.steps(x)
+        for i in self.order:
+            x = self.steps[i](x)

# %% no_super
# misconception: forgets super().__init__() | hint: init_forgotten
# edits: sequential_as_list
-        super().__init__()
@@
-        self.steps = nn.Sequential(*steps)
+        self.steps = nn.ModuleList(steps)

# %% not_passed_on
# misconception: feeds x to every step | hint: result_not_passed_on
# breaks: what comes out of it goes through `steps[0]`
# edits: no_return
-            x = self.steps[i](x)
+            out = self.steps[i](x)
+        return out

# %% numbers_for_names
# misconception: reads a ModuleDict by number | hint: anatomy_container_arguments
# edits: local_container
-        steps = nn.ModuleList(steps)
+        self.steps = nn.ModuleDict({str(i): s for i, s in enumerate(steps)})

# %% only_ordered_steps
# misconception: registers only the steps that run, and sorts them | hint: steps_dropped
# breaks: `self.steps` is a container that holds *all* steps
# edits: sequential_as_list
-        self.steps = nn.Sequential(*steps)
+        self.steps = nn.ModuleList(steps[i] for i in sorted(set(order)))
+        self.order = [sorted(set(order)).index(i) for i in order]

# %% order_on_the_class
# misconception: keeps the order on the class | hint: anatomy_kept_on_the_class
# edits: sequential_as_list
-        self.order = order
-        self.steps = nn.Sequential(*steps)
+        Chain.order = order
+        self.steps = nn.ModuleList(steps)

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
# breaks: `x`, the two lists and the modules in them stay as they were
# edits: backwards
-        for i in reversed(self.order):
-            x = self.steps[i](x)
+        with torch.no_grad():
+            for i in self.order:
+                x.copy_(self.steps[i](x))

# %% pops_from_the_end
# misconception: registers the steps from the last to the first | hint: registered_in_run_order
# breaks: in the order in which they were handed in
# breaks: the two lists and the modules in them stay as they were
# edits: empties_callers_list
-            self.steps.append(steps.pop(0))
+            self.steps.append(steps.pop())

# %% pops_order
# misconception: empties the order in the first call | hint: consumes_order
# breaks: A chain can be called any number of times.
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)
        self.order = list(order)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while self.order:
            x = self.steps[self.order.pop(0)](x)
        return x

# %% python_dict
# misconception: keeps the steps in a python dict | hint: python_list
# edits: sequential_as_list
-        self.steps = nn.Sequential(*steps)
+        self.steps = dict(enumerate(steps))

# %% python_list
# misconception: keeps the steps in a python list | hint: python_list
# breaks: finds their parameters under names that begin with `steps.0`
# edits: sequential_as_list
-        self.steps = nn.Sequential(*steps)
+        self.steps = steps

# %% result_on_self
# misconception: goes on from the last call's result | hint: consumes_order
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)
        self.x = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.x is None:
            self.x = x
        for i in self.order:
            self.x = self.steps[i](self.x)
        return self.x

# %% returns_in_loop
# misconception: returns after the first step | hint: returns_too_early
# edits: no_return
+            return x

# %% reverses_callers_list
# misconception: turns the list that was handed in | hint: anatomy_changes_callers_list
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        order.reverse()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order[::-1]:
            x = self.steps[i](x)
        return x

# %% run_order_container
# misconception: registers the steps in run order | hint: registered_in_run_order
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

# %% sums_the_steps
# misconception: adds what each step makes of x | hint: result_not_passed_on
# edits: calls_the_list
-        return self.steps(x)
+        return sum(self.steps[i](x) for i in self.order)

# %% three_steps
# misconception: unpacks three entries | hint: anatomy_order_of_example
# edits: calls_the_list
-        return self.steps(x)
+        a, b, c = self.order
+        return self.steps[c](self.steps[b](self.steps[a](x)))

# %% puts_into_eval
# misconception: puts the steps into eval mode | hint: anatomy_changes_the_rest
# breaks: also their modes and what is frozen
# edits: local_container
-        steps = nn.ModuleList(steps)
+        self.steps = nn.ModuleList(steps).eval()

# %% unfreezes
# misconception: makes everything trainable | hint: anatomy_changes_the_rest
# breaks: also their modes and what is frozen
# edits: local_container
-        steps = nn.ModuleList(steps)
+        self.steps = nn.ModuleList(steps)
+        self.requires_grad_(True)

# %% each_module_once
# misconception: keeps a module once that stands there twice | hint: steps_dropped
# breaks: One module may stand in `steps` twice.
# edits: local_container
-        steps = nn.ModuleList(steps)
+        self.steps = nn.ModuleList(dict.fromkeys(steps))

# %% detaches_x
# misconception: cuts the way to x | hint: anatomy_input_cut
# breaks: Gradients reach the steps and `x`.
# edits: backwards
-        for i in reversed(self.order):
+        x = x.detach()
+        for i in self.order:

# %% casts_to_float
# misconception: computes in float32, whatever came in | hint: anatomy_wrong_dtype
# breaks: returns the result of the last step
# edits: detaches_x
-        x = x.detach()
+        x = x.float()

# %% as_many_as_steps
# misconception: makes as many rounds as there are steps | hint: anatomy_order_of_example
# breaks: An index may appear twice, or not at all.
# edits: backwards
-        for i in reversed(self.order):
+        for i, _ in zip(self.order, self.steps):

# %% freezes_what_the_order_leaves_out
# misconception: freezes the steps that the order leaves out | hint: anatomy_changes_the_rest
# breaks: also their modes and what is frozen
# edits: unfreezes
-        self.requires_grad_(True)
+        for i, s in enumerate(steps):
+            if i not in order:
+                s.requires_grad_(False)

# %% flattens_batches
# misconception: makes rows of what has three dimensions | hint: shapes_do_not_fit
# breaks: returns the result of the last step
# edits: casts_to_float
-        x = x.float()
+        x = x.flatten(1) if x.dim() > 2 else x

# %% cuts_before_a_repetition
# misconception: detaches before a step that has run already | hint: gradient_cut
# breaks: An index may appear twice
# breaks: Gradients reach the steps
# edits: as_many_as_steps
-        for i, _ in zip(self.order, self.steps):
+        done = set()
+        for i in self.order:
+            if i in done:
+                x = x.detach()
+            done.add(i)

# %% asks_for_a_gradient_of_x
# misconception: makes x need a gradient | hint: anatomy_changes_the_rest
# breaks: `x`, the two lists and the modules in them stay as they were
# edits: casts_to_float
-        x = x.float()
+        if x.is_floating_point() and not x.requires_grad:
+            x.requires_grad_()

# %% writes_numbers_on_the_steps
# misconception: writes its place on each step | hint: anatomy_changes_the_rest
# breaks: `x`, the two lists and the modules in them stay as they were
# edits: each_module_once
-        self.steps = nn.ModuleList(dict.fromkeys(steps))
+        self.steps = nn.ModuleList()
+        for number, step in enumerate(steps):
+            step.position = number
+            self.steps.append(step)

# %% each_module_once_and_places
# misconception: keeps a module once that stands there twice, and where it stands | hint: steps_dropped
# breaks: One module may stand in `steps` twice.
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        modules = list(dict.fromkeys(steps))
        self.steps = nn.ModuleList(modules)
        self.places = [modules.index(step) for step in steps]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order:
            x = self.steps[self.places[i]](x)
        return x

# %% names_with_a_dot
# misconception: a python list, and an attribute with a dot in its name for each step | hint: anatomy_other_names
# breaks: `self.steps` is a container
# edits: each_module_once
-        self.steps = nn.ModuleList(dict.fromkeys(steps))
+        self.steps = list(steps)
+        for number, step in enumerate(steps):
+            setattr(self, f"steps.{number}", step)

# %% no_gradients_in_eval_mode
# misconception: switches autograd off in eval mode | hint: gradient_cut
# breaks: Gradients reach the steps and `x`.
# edits: as_many_as_steps
-        for i, _ in zip(self.order, self.steps):
-            x = self.steps[i](x)
+        with torch.set_grad_enabled(self.training):
+            for i in self.order:
+                x = self.steps[i](x)

# %% keeps_the_gradient_of_x
# misconception: makes x keep its gradient | hint: anatomy_changes_the_rest
# breaks: `x`, the two lists and the modules in them stay as they were
# edits: casts_to_float
-        x = x.float()
+        if x.requires_grad:
+            x.retain_grad()

# %% throws_gradients_away
# misconception: throws away the gradients that the steps have | hint: anatomy_changes_the_rest
# breaks: `x`, the two lists and the modules in them stay as they were
# edits: unfreezes
-        self.requires_grad_(True)
+        self.zero_grad()

# %% dict_of_what_is_used
# misconception: keeps only the steps that the order names, under their numbers | hint: steps_dropped
# breaks: `self.steps` is a container that holds *all* steps
# edits: detaches
-        self.steps = nn.ModuleList(steps)
+        self.steps = nn.ModuleDict({str(i): steps[i] for i in sorted(set(order))})
@@
-            x = self.steps[i](x).detach()
+            x = self.steps[str(i)](x)

# %% shallow_copies
# misconception: keeps shallow copies, which only share the parameters | hint: copied_steps
# breaks: Keep the modules themselves, not copies of them
# edits: each_module_once
+from copy import copy
+
+
 class Chain(nn.Module):
@@
-        self.steps = nn.ModuleList(dict.fromkeys(steps))
+        self.steps = nn.ModuleList(copy(step) for step in steps)

# %% registered_from_the_end
# misconception: registers the last step first, under its right name | hint: registered_in_run_order
# breaks: in the order in which they were handed in
# edits: dict_of_what_is_used
-        self.steps = nn.ModuleDict({str(i): steps[i] for i in sorted(set(order))})
+        self.steps = nn.ModuleDict({str(i): steps[i] for i in reversed(range(len(steps)))})
