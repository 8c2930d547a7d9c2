# nothing to break: `W` and `X` have shape (2, 2).

# %% bias_not_initialised
# misconception: initialises W only | hint: bias_not_one
# breaks: every element of `W` and `b` is 1
# edits: functional_linear
-        module.b = Parameter(torch.ones(2))
+        module.b = Parameter(torch.rand(2))
@@
-        nn.init.ones_(module.W)
-        nn.init.ones_(module.b)
+        module.W.data.fill_(1)
@@
-        module.forward = lambda X: F.linear(X, module.W, bias=module.b)
+        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)

# %% child_called_b
# misconception: hasattr is also true for the child b of Layer_AB | hint: child_of_that_name
# edits: bias_not_initialised
         module.W.data.fill_(1)
+    if hasattr(module, "b"):
+        module.b.data.fill_(1)

# %% buffer_bias
# misconception: b is a buffer | hint: buffer_for_parameter
# edits: child_called_b
-        module.b = Parameter(torch.rand(2))
+        module.register_buffer("b", torch.rand(2))
@@
-    if hasattr(module, "b"):

# %% bias_everywhere
# misconception: gives b to the layers too | hint: touches_other_modules
# edits: buffer_bias
-    if hasattr(module, "W"):
-        module.register_buffer("b", torch.rand(2))
+    module.b = Parameter(torch.rand(2))

# %% keeps_parameters
# misconception: keeps the W and b that are there while apply visits | hint: stale_weights
# breaks: or are replaced later
# edits: child_called_b
-    if hasattr(module, "b"):
@@
-        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)
+        W, b = module.W, module.b
+        module.forward = lambda X: X @ W + b

# %% global_model
# misconception: works on the notebook's model, not on the module it is given | hint: apply_uses_global_model
# edits: bias_everywhere
+parts = [model.ab.a, model.ab.b, model.cd.c, model.cd.d]
+
+
 def add_bias(module):
-    module.b = Parameter(torch.rand(2))
+    for part in parts:
+        part.b = Parameter(torch.rand(2))
@@
-    if hasattr(module, "W"):
-        module.W.data.fill_(1)
-        module.b.data.fill_(1)
+    for part in parts:
+        part.W.data.fill_(1)
+        part.b.data.fill_(1)
@@
-    if hasattr(module, "W"):
-        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)
+    for part in parts:
+        part.forward = partial(lambda self, X: X @ self.W + self.b, part)

# %% detached_result
# misconception: detaches the result, so `W` and `b` get no gradient | hint: gradient_cut
# edits: ones_by_birth
-        module.forward = lambda X: X @ module.W + module.b
+        module.forward = lambda X: (X @ module.W + module.b).detach()

# %% instance_call
# misconception: an object's own __call__ is never looked up | hint: dunder_on_instance
# edits: keeps_parameters
-        W, b = module.W, module.b
-        module.forward = lambda X: X @ W + b
+        module.__call__ = lambda X: X @ module.W + module.b

# %% calls_forward_once
# misconception: computes once, while apply visits | hint: old_forward_runs
# edits: instance_call
 def linear_transformation(module):
+    X = torch.ones(2, 2)
@@
-        module.__call__ = lambda X: X @ module.W + module.b
+        output = X @ module.W + module.b
+        return output

# %% late_binding
# misconception: all hooks of one loop share the variable | hint: apply_late_binding
# edits: instance_call
 def linear_transformation(module):
+    global part
@@
-        module.__call__ = lambda X: X @ module.W + module.b
+        part = module
+        module.register_forward_hook(lambda m, args, output: args[0] @ part.W + part.b)

# %% no_filter
# misconception: expects every module to have a W | hint: not_every_module_has_it
# edits: bias_not_initialised
-    if hasattr(module, "W"):
-        module.W.data.fill_(1)
+    module.W.data.fill_(1)
+    module.b.data.fill_(1)

# %% not_rewired
# misconception: the third apply is missing | hint: not_applied
# breaks: Apply your two functions to `model`
# edits: child_called_b
-    if hasattr(module, "b"):
@@
-returned_module = model.apply(add_bias)
+model.apply(add_bias)
@@
-returned_module = model.apply(linear_transformation)

# %% one_class
# misconception: rewires one class only | hint: apply_misses_some
# edits: instance_call
-    if hasattr(module, "W"):
-        module.__call__ = lambda X: X @ module.W + module.b
+    if isinstance(module, Function_C):
+        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)

# %% plain_tensor_bias
# misconception: b is a plain tensor | hint: tensor_for_parameter
# breaks: a `Parameter` of its own, `b`
# edits: buffer_bias
-        module.register_buffer("b", torch.rand(2))
+        module.b = torch.rand(2)

# %% pre_hook
# misconception: changes the input, the old forward still follows | hint: pre_hook_keeps_forward
# edits: instance_call
-    if hasattr(module, "W"):
-        module.__call__ = lambda X: X @ module.W + module.b
+    def hook(module, input):
+        return input[0] @ module.W + module.b
+
+    if "Function" in type(module).__name__:
+        module.register_forward_pre_hook(hook)

# %% adds_bias_only
# misconception: adds b to the old output | hint: uses_old_output
# edits: pre_hook
-    def hook(module, input):
-        return input[0] @ module.W + module.b
+    def hook(module, input, output):
+        return output + module.b
@@
-        module.register_forward_pre_hook(hook)
+        module.register_forward_hook(hook)

# %% bias_on_columns
# misconception: adds b to the columns | hint: bias_on_columns
# edits: adds_bias_only
-        return output + module.b
+        return input[0] @ module.W + module.b.reshape(2, 1)

# %% elementwise
# misconception: multiplies element by element | hint: elementwise_product
# edits: adds_bias_only
-        return output + module.b
+        return input[0] * module.W + module.b

# %% forgets_bias
# misconception: leaves the bias out | hint: forgets_bias | canary
# edits: adds_bias_only
-        return output + module.b
+        return input[0] @ module.W

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

# %% one_bias_for_all
# misconception: stores one Parameter on all modules | hint: shared_parameter
# edits: adds_bias_only
 model = Model(shape=(2, 2))
+B = Parameter(torch.rand(2))
@@
-        module.b = Parameter(torch.rand(2))
+        module.b = B
@@
-        return output + module.b
+        return input[0] @ module.W + module.b

# %% ones_typed_in
# misconception: multiplies by ones, not by W | hint: stale_weights
# breaks: even when `W` and `b` change
# edits: adds_bias_only
-        return output + module.b
+        return input[0] @ torch.ones(2, 2) + 1

# %% return_not_kept
# misconception: returned_module is something else | hint: wrong_return
# breaks: Keep what the last `apply` returns in `returned_module`
# edits: not_rewired
-returned_module = model.apply(weight_initialization)
+model.apply(weight_initialization)
+model.apply(linear_transformation)
+returned_module = (add_bias, weight_initialization, linear_transformation)

# %% row_bias
# misconception: b is a row matrix | hint: linear_bias_shape
# breaks: of shape (2,)
# edits: buffer_bias
-        module.register_buffer("b", torch.rand(2))
+        module.b = Parameter(torch.rand(1, 2))

# %% unbound_forward
# misconception: a plain function on an object gets no self | hint: unbound_function
# edits: instance_call
+def times(self, X):
+    return X @ self.W + self.b
+
+
 def linear_transformation(module):
@@
-        module.__call__ = lambda X: X @ module.W + module.b
+        module.forward = times

# %% wrong_order_of_calls
# misconception: initialises before b exists, so b stays random | hint: bias_not_one
# edits: not_rewired
         module.W.data.fill_(1)
+    if hasattr(module, "W") and hasattr(module, "b"):
@@
-model.apply(add_bias)
@@
+returned_module = model.apply(add_bias)
+returned_module = model.apply(linear_transformation)

# %% wrong_side
# misconception: multiplies from the wrong side | hint: wrong_side
# edits: adds_bias_only
-        return output + module.b
+        return module.W @ input[0] + module.b

# %% output_in_a_tuple
# misconception: returns a tuple from the hook, because the inputs come in one | hint: output_in_a_tuple
# edits: ones_by_birth
-        module.forward = lambda X: X @ module.W + module.b
+        module.register_forward_hook(lambda module, args, output: (args[0] @ module.W + module.b,))

# %% class_patched
# misconception: sets forward on the class | hint: forward_class_patched
# breaks: the classes stay as they are
# edits: instance_call
-    if hasattr(module, "W"):
-        module.__call__ = lambda X: X @ module.W + module.b
+    if "Function" in type(module).__name__:
+        type(module).forward = lambda self, X: X @ self.W + self.b
