# nothing to break: Write one function for `apply`: `make_linear(module)`.

# %% bias_of_rows
# misconception: b has the size of the input | hint: linear_bias_shape
# edits: reference
-            module.b = Parameter(torch.zeros(module.W.shape[1]))
+            module.b = Parameter(torch.zeros(module.W.shape[0]))

# %% bias_of_two
# misconception: the size of the other exercise | hint: linear_bias_shape
# breaks: with a `W` of any shape `(n, m)`
# edits: bias_of_rows
-            module.b = Parameter(torch.zeros(module.W.shape[0]))
+            module.b = Parameter(torch.zeros(2))

# %% no_bias
# misconception: adds no b | hint: bias_missing
# edits: reference
-        if "b" not in module._parameters:
-            module.b = Parameter(torch.zeros(module.W.shape[1]))

# %% bias_plain
# misconception: b is a plain tensor | hint: tensor_for_parameter
# breaks: a `Parameter` `b`
# edits: bias_of_rows
-            module.b = Parameter(torch.zeros(module.W.shape[0]))
+            module.b = torch.zeros(module.W.shape[1], requires_grad=True)

# %% bias_random
# misconception: b begins with random values | hint: wrong_start
# breaks: of `m` zeros
# edits: bias_of_rows
-            module.b = Parameter(torch.zeros(module.W.shape[0]))
+            module.b = Parameter(torch.rand(module.W.shape[1]))

# %% class_patched
# misconception: sets forward on the class | hint: forward_class_patched
# breaks: the classes and everything outside `model` stay as they are
# edits: reference
-        module.forward = partial(linear_forward, module)
+        type(module).forward = linear_forward

# %% closure
# misconception: the function remembers the module around it | hint: copy_remembers_original | canary
# breaks: A **copy** made with `copy.deepcopy` computes with its own
# edits: reference
-        module.forward = partial(linear_forward, module)
+        module.forward = lambda X: linear_forward(module, X)

# %% detached_weight
# misconception: computes with a detached result | hint: gradient_cut
# edits: reference
-        module.forward = partial(linear_forward, module)
+        module.forward = partial(lambda self, X: linear_forward(self, X).detach(), module)

# %% hook_each_time
# misconception: adds one more hook each time | hint: second_time_on_top
# breaks: **Applied again**, it changes nothing
# edits: reference
-        module.forward = partial(linear_forward, module)
+        module.forward = lambda X: X
+        module.register_forward_hook(lambda m, args, X: linear_forward(m, X))

# %% hook_only
# misconception: the old forward runs before the hook | hint: old_forward_gets_it_first
# breaks: makes it compute `linear_forward`
# edits: reference
-        module.forward = partial(linear_forward, module)
+            module.register_forward_hook(lambda m, args, output: linear_forward(m, args[0]))

# %% new_bias_each_time
# misconception: makes b anew each time | hint: second_time_anew
# edits: reference
-        if "b" not in module._parameters:
-            module.b = Parameter(torch.zeros(module.W.shape[1]))
+        module.b = Parameter(torch.zeros(module.W.shape[1]))

# %% set_outside
# misconception: a set outside tells which modules have their b, and no copy is in it | hint: second_time_anew
# edits: reference
-        if "b" not in module._parameters:
+        if module not in DONE:
+            DONE.add(module)
@@
-model.apply(make_linear)
+DONE = set()
+model.apply(make_linear)

# %% unbound
# misconception: a plain function on an object gets no self | hint: unbound_function
# edits: reference
-        module.forward = partial(linear_forward, module)
+        module.forward = linear_forward

# %% self_as_keyword
# misconception: fixes self by its name, and X comes to its place | hint: self_by_name
# edits: reference
-        module.forward = partial(linear_forward, module)
+        module.forward = partial(linear_forward, self=module)

# %% whatever_has_a_W
# misconception: takes each module that has a W for a Function | hint: true_for_others
# breaks: Other modules
# edits: reference
-    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
+    if hasattr(module, "W"):
