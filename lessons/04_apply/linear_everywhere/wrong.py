# nothing to break: `W` and `X` have shape (2, 2).

# %% keeps_parameters
# misconception: keeps the W and b that are there while apply visits | hint: stale_weights
# breaks: or are replaced later
# edits: ones_by_birth
-        module.forward = lambda X: X @ module.W + module.b
+        W, b = module.W, module.b
+        module.forward = lambda X: X @ W + b

# %% detached_result
# misconception: detaches the result, so `W` and `b` get no gradient | hint: gradient_cut
# edits: ones_by_birth
-        module.forward = lambda X: X @ module.W + module.b
+        module.forward = lambda X: (X @ module.W + module.b).detach()

# %% instance_call
# misconception: an object's own __call__ is never looked up | hint: dunder_on_instance
# edits: ones_by_birth
-        module.forward = lambda X: X @ module.W + module.b
+        module.__call__ = lambda X: X @ module.W + module.b

# %% calls_forward_once
# misconception: computes once, while apply visits | hint: old_forward_runs
# edits: ones_by_birth
-        module.forward = lambda X: X @ module.W + module.b
+        return torch.ones(2, 2) @ module.W + module.b

# %% late_binding
# misconception: all hooks of one loop share the variable | hint: apply_late_binding
# edits: ones_by_birth
-        module.forward = lambda X: X @ module.W + module.b
+        global part
+        part = module
+        module.register_forward_hook(lambda m, args, output: args[0] @ part.W + part.b)

# %% pre_hook
# misconception: changes the input, the old forward still follows | hint: pre_hook_keeps_forward
# edits: ones_by_birth
-        module.forward = lambda X: X @ module.W + module.b
+        module.register_forward_pre_hook(lambda m, args: args[0] @ m.W + m.b)

# %% output_in_a_tuple
# misconception: returns a tuple from the hook, because the inputs come in one | hint: output_in_a_tuple
# edits: ones_by_birth
-        module.forward = lambda X: X @ module.W + module.b
+        module.register_forward_hook(lambda module, args, output: (args[0] @ module.W + module.b,))

# %% class_patched
# misconception: sets forward on the class | hint: forward_class_patched
# breaks: the classes stay as they are
# edits: ones_by_birth
-        module.forward = lambda X: X @ module.W + module.b
+        type(module).forward = lambda self, X: X @ self.W + self.b

# %% a_misspelt_name
# misconception: a name in the function that does not exist: the last call of apply raises an error | hint: cell_stopped
# edits: reference
-        module.forward = partial(linear, module)
+        module.forward = partial(linaer, module)

# %% global_model
# misconception: works on the notebook's model, not on the module it is given | hint: apply_uses_global_model
# edits: ones_by_birth
-    if hasattr(module, "W"):
-        module.b = Parameter(torch.ones(2))
+    for part in (model.ab.a, model.ab.b, model.cd.c, model.cd.d):
+        part.b = Parameter(torch.ones(2))

# %% elementwise
# misconception: multiplies element by element | hint: elementwise_product
# edits: reference
-        return X @ self.W + self.b
+        return X * self.W + self.b

# %% forgets_bias
# misconception: leaves the bias out | hint: forgets_bias | canary
# edits: reference
-        return X @ self.W + self.b
+        return X @ self.W

# %% bias_on_columns
# misconception: adds b to the columns | hint: bias_on_columns
# edits: reference
-        return X @ self.W + self.b
+        return X @ self.W + self.b.reshape(2, 1)

# %% wrong_side
# misconception: multiplies from the wrong side | hint: wrong_side
# edits: reference
-        return X @ self.W + self.b
+        return self.W @ X + self.b

# %% unbound_forward
# misconception: a plain function on an object gets no self | hint: unbound_function
# edits: reference
-        module.forward = partial(linear, module)
+        module.forward = linear

# %% one_class
# misconception: rewires one class only | hint: apply_misses_some
# edits: reference
-    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
-        module.forward = partial(linear, module)
+    if isinstance(module, Function_C):
+        module.forward = partial(linear, module)

# %% no_filter
# misconception: expects every module to have a W | hint: not_every_module_has_it
# edits: one_class
-    if isinstance(module, Function_C):
-        module.forward = partial(linear, module)
+    module.forward = partial(linear, module)

# %% whatever_has_a_b
# misconception: hasattr is also true for the child b of Layer_AB | hint: child_of_that_name
# edits: one_class
-    if isinstance(module, Function_C):
+    if hasattr(module, "b"):

# %% plain_tensor_bias
# misconception: b is a plain tensor | hint: tensor_for_parameter
# breaks: a `Parameter` of its own, `b`
# edits: reference
-        module.b = Parameter(torch.rand(2))
+        module.b = torch.rand(2)

# %% buffer_bias
# misconception: b is a buffer | hint: buffer_for_parameter
# edits: reference
-        module.b = Parameter(torch.rand(2))
+        module.register_buffer("b", torch.rand(2))

# %% row_bias
# misconception: b is a row matrix | hint: linear_bias_shape
# breaks: of shape (2,)
# edits: reference
-        module.b = Parameter(torch.rand(2))
+        module.b = Parameter(torch.rand(1, 2))

# %% one_bias_for_all
# misconception: stores one Parameter on all modules | hint: shared_parameter
# edits: reference
 model = Model(shape=(2, 2))
+B = Parameter(torch.rand(2))
@@
-        module.b = Parameter(torch.rand(2))
+        module.b = B

# %% bias_everywhere
# misconception: gives b to the layers too | hint: touches_other_modules
# edits: reference
-    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
-        module.b = Parameter(torch.rand(2))
+    module.b = Parameter(torch.rand(2))

# %% adds_bias_only
# misconception: adds b to the old output | hint: uses_old_output
# edits: reference
-    def linear(self, X):
-        return X @ self.W + self.b
+    def hook(module, input, output):
+        return output + module.b
@@
-        module.forward = partial(linear, module)
+        module.register_forward_hook(hook)

# %% hook_returns_nothing
# misconception: rebinds output, returns nothing | hint: linear_hook_returns_nothing
# edits: adds_bias_only
-        return output + module.b
+        output = input[0] @ module.W + module.b

# %% input_is_tuple
# misconception: takes the tuple of inputs for the input | hint: input_is_tuple
# edits: adds_bias_only
-        return output + module.b
+        return input @ module.W + module.b

# %% not_rewired
# misconception: the third apply is missing | hint: not_applied
# breaks: Apply `add_bias`, `weight_initialization` and `linear_transformation` to `model`
# edits: reference
-model.apply(weight_initialization)
-returned_module = model.apply(linear_transformation)
+returned_module = model.apply(weight_initialization)

# %% return_not_kept
# misconception: returned_module is something else | hint: wrong_return
# breaks: Keep what the last `apply` returns in `returned_module`
# edits: reference
-returned_module = model.apply(linear_transformation)
+model.apply(linear_transformation)
+returned_module = linear_transformation

# %% wrong_order_of_calls
# misconception: initialises before b exists | hint: bias_missing
# edits: reference
-model.apply(add_bias)
-model.apply(weight_initialization)
+model.apply(weight_initialization)
+model.apply(add_bias)

# %% bias_stays_random
# misconception: gives each module its b once more, behind the initialisation | hint: bias_not_one
# breaks: in this order: then every element of `W` and `b` is 1
# edits: reference
-model.apply(weight_initialization)
+model.apply(weight_initialization).apply(add_bias)
