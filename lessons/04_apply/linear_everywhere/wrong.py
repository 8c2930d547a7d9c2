# nothing to break: `Function_*` means the four classes `Function_A` to `Function_D`.
# nothing to break: Whether gradients reach `W` and `b`, and what becomes of a `Function_*` outside the trees, is not asked here: that is the matter of 'Linear, for good', further on.
# nothing to break: A hook or a new `forward`: as you like.
# nothing to break: It uses symmetric `W`, so `X @ W.T + b`, which is what `nn.Linear` computes, is right too.
# nothing to break: If your `model` was made by `Model()`, without a shape, the check gives its `W` the shape (2, 2).
# nothing to break: `W` now has shape (2, 2).

# %% adds_bias_only
# misconception: adds b to the old output | hint: uses_old_output
model = Model(shape=(2, 2))


def add_bias(module):
    if hasattr(module, "W"):
        module.b = Parameter(torch.rand(2))


def weight_initialization(module):
    if hasattr(module, "W"):
        module.W.data.fill_(1)
        module.b.data.fill_(1)


def linear_transformation(module):
    def hook(module, input, output):
        return output + module.b

    if "Function" in type(module).__name__:
        module.register_forward_hook(hook)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% bias_everywhere
# misconception: gives b to the layers too | hint: touches_other_modules
# breaks: on no other module
# edits: adds_bias_only
-    if hasattr(module, "W"):
-        module.b = Parameter(torch.rand(2))
+    module.b = Parameter(torch.rand(2))
@@
-    def hook(module, input, output):
-        return output + module.b
-
-    if "Function" in type(module).__name__:
-        module.register_forward_hook(hook)
+    if hasattr(module, "W"):
+        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)

# %% bias_not_initialised
# misconception: initialises W only | hint: bias_not_one
# breaks: sets every element of `W` and of `b` to 1
# edits: bias_everywhere
-    module.b = Parameter(torch.rand(2))
+    if hasattr(module, "W"):
+        module.b = Parameter(torch.rand(2))
@@
-        module.b.data.fill_(1)

# %% bias_on_columns
# misconception: adds b to the columns | hint: bias_on_columns
# breaks: with `b` added to each row
# edits: adds_bias_only
-        return output + module.b
+        return input[0] @ module.W + module.b.reshape(2, 1)

# %% buffer_bias
# misconception: b is a buffer | hint: buffer_for_parameter
# edits: bias_everywhere
-    module.b = Parameter(torch.rand(2))
+    if hasattr(module, "W"):
+        module.register_buffer("b", torch.rand(2))

# %% calls_forward_once
# misconception: computes once, while apply visits | hint: old_forward_runs
# edits: adds_bias_only
-    def hook(module, input, output):
-        return output + module.b
-
-    if "Function" in type(module).__name__:
-        module.register_forward_hook(hook)
+    X = torch.ones(2, 2)
+    if hasattr(module, "W"):
+        output = X @ module.W + module.b
+        return output

# %% child_called_b
# misconception: hasattr is also true for the child b of Layer_AB | hint: child_of_that_name
# edits: bias_not_initialised
         module.W.data.fill_(1)
+    if hasattr(module, "b"):
+        module.b.data.fill_(1)

# %% child_called_b_init
# misconception: hasattr is also true for the child b of Layer_AB | hint: child_of_that_name
# edits: child_called_b
-        module.b.data.fill_(1)
+        nn.init.ones_(module.b)

# %% column_bias
# misconception: b is a column | hint: linear_bias_shape
# edits: buffer_bias
-        module.register_buffer("b", torch.rand(2))
+        module.b = Parameter(torch.rand(2, 1))

# %% copies_weights
# misconception: copies W and b while apply visits | hint: stale_weights
# edits: child_called_b
-    if hasattr(module, "b"):
@@
-        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)
+        W, b = module.W.detach().clone(), module.b.detach().clone()
+        module.forward = lambda X: X @ W + b

# %% elementwise
# misconception: multiplies element by element | hint: elementwise_product
# breaks: the matrix product `X @ W`
# edits: adds_bias_only
-        return output + module.b
+        return input[0] * module.W + module.b

# %% forgets_bias
# misconception: leaves the bias out | hint: forgets_bias
# edits: adds_bias_only
-        return output + module.b
+        return input[0] @ module.W

# %% global_model
# misconception: works on the notebook's model, not on the module it is given | hint: apply_uses_global_model
# breaks: to a fresh tree as well
model = Model(shape=(2, 2))


parts = [model.ab.a, model.ab.b, model.cd.c, model.cd.d]


def add_bias(module):
    for part in parts:
        part.b = Parameter(torch.rand(2))


def weight_initialization(module):
    for part in parts:
        part.W.data.fill_(1)
        part.b.data.fill_(1)


def linear_transformation(module):
    for part in parts:
        part.forward = partial(lambda self, X: X @ self.W + self.b, part)


returned_module = model.apply(add_bias)
returned_module = model.apply(weight_initialization)
returned_module = model.apply(linear_transformation)

# %% hook_on_layers_too
# misconception: hooks every module | hint: not_every_module_has_it
# edits: copies_weights
-    if hasattr(module, "W"):
-        W, b = module.W.detach().clone(), module.b.detach().clone()
-        module.forward = lambda X: X @ W + b
+    module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)

# %% hook_returns_nothing
# misconception: rebinds output, returns nothing | hint: linear_hook_returns_nothing
# edits: adds_bias_only
-        return output + module.b
+        output = input[0] @ module.W + module.b

# %% in_place_while_recording
# misconception: in-place on a leaf, without no_grad | hint: leaf_in_place
# edits: bias_not_initialised
-        module.W.data.fill_(1)
+        module.W.fill_(1)
+        module.b.fill_(1)

# %% initialised_too_early
# misconception: initialises before b exists | hint: bias_missing
# edits: child_called_b
-    if hasattr(module, "b"):
+    if hasattr(module, "W") and hasattr(module, "b"):
@@
-returned_module = model.apply(add_bias)

# %% input_is_tuple
# misconception: takes the tuple of inputs for the input | hint: input_is_tuple
# edits: adds_bias_only
-        return output + module.b
+        return input @ module.W + module.b

# %% instance_call
# misconception: an object's own __call__ is never looked up | hint: dunder_on_instance
# edits: copies_weights
-        W, b = module.W.detach().clone(), module.b.detach().clone()
-        module.forward = lambda X: X @ W + b
+        module.__call__ = lambda X: X @ module.W + module.b

# %% late_binding
# misconception: all hooks of one loop share the variable | hint: apply_late_binding
# edits: hook_on_layers_too
-    module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)
+    global part
+    if hasattr(module, "W"):
+        part = module
+        module.register_forward_hook(lambda m, args, output: args[0] @ part.W + part.b)

# %% matmul_of_tuple
# misconception: takes the tuple of inputs for the input | hint: input_is_tuple
# edits: adds_bias_only
-        return output + module.b
+        return torch.matmul(input, module.W) + module.b

# %% no_filter
# misconception: expects every module to have a W | hint: not_every_module_has_it
# edits: bias_not_initialised
-    if hasattr(module, "W"):
-        module.W.data.fill_(1)
+    module.W.data.fill_(1)
+    module.b.data.fill_(1)

# %% not_rewired
# misconception: the third apply is missing | hint: not_applied
# breaks: apply each of them to `model`
# edits: child_called_b
-    if hasattr(module, "b"):
@@
-returned_module = model.apply(add_bias)
+model.apply(add_bias)
@@
-returned_module = model.apply(linear_transformation)

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

# %% one_class
# misconception: rewires one class only | hint: apply_misses_some
# edits: hook_on_layers_too
-    module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)
+    if isinstance(module, Function_C):
+        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)

# %% one_element_bias
# misconception: b has one element | hint: linear_bias_shape
# edits: buffer_bias
-        module.register_buffer("b", torch.rand(2))
+        module.b = Parameter(torch.rand(1))

# %% ones_typed_in
# misconception: multiplies by ones, not by W | hint: stale_weights
# breaks: with the values that `W` and `b` have at the moment of the call
# edits: adds_bias_only
-        return output + module.b
+        return input[0] @ torch.ones(2, 2) + 1

# %% other_name
# misconception: the bias has another name | hint: bias_missing
# edits: bias_not_initialised
-        module.b = Parameter(torch.rand(2))
+        module.bias = Parameter(torch.rand(2))
@@
         module.W.data.fill_(1)
+        module.bias.data.fill_(1)
@@
-        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)
+        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.bias)

# %% plain_tensor_bias
# misconception: b is a plain tensor | hint: tensor_for_parameter
# breaks: registers a `Parameter` called `b`
# edits: buffer_bias
-        module.register_buffer("b", torch.rand(2))
+        module.b = torch.rand(2)

# %% plain_tensor_with_grad
# misconception: a tensor that requires a gradient is no Parameter | hint: tensor_for_parameter
# edits: buffer_bias
-        module.register_buffer("b", torch.rand(2))
+        module.b = torch.rand(2, requires_grad=True)

# %% pre_hook
# misconception: changes the input, the old forward still follows | hint: pre_hook_keeps_forward
# edits: hook_on_layers_too
-    module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)
+    def hook(module, input):
+        return input[0] @ module.W + module.b
+
+    if "Function" in type(module).__name__:
+        module.register_forward_pre_hook(hook)

# %% remembers_by_class
# misconception: keeps the parameters by class name, so a second tree shares them | hint: shares_between_trees
# edits: instance_call
 model = Model(shape=(2, 2))
+known = {}
@@
-        module.__call__ = lambda X: X @ module.W + module.b
+        owner = known.setdefault(type(module).__name__, module)
+        module.forward = lambda X: X @ owner.W + owner.b

# %% return_not_kept
# misconception: returned_module is something else | hint: wrong_return
# breaks: Keep what the last `apply` returns in `returned_module`
# edits: not_rewired
-returned_module = model.apply(weight_initialization)
+model.apply(weight_initialization)
+model.apply(linear_transformation)
+returned_module = (add_bias, weight_initialization, linear_transformation)

# %% returns_linear
# misconception: thinks that apply puts in what the function returns | hint: old_forward_runs
# edits: instance_call
-        module.__call__ = lambda X: X @ module.W + module.b
+        layer = nn.Linear(2, 2)
+        layer.weight, layer.bias = module.W, module.b
+        return layer
+    return module

# %% row_bias
# misconception: b is a row matrix | hint: linear_bias_shape
# breaks: of shape (2,) on every `Function_*`
# edits: buffer_bias
-        module.register_buffer("b", torch.rand(2))
+        module.b = Parameter(torch.rand(1, 2))

# %% row_sums
# misconception: right only where all weights are equal | hint: stale_weights
# edits: adds_bias_only
-        return output + module.b
+        return input[0].sum(1, keepdim=True) + module.b

# %% scales_by_mean
# misconception: right only where all weights are equal | hint: right_for_equal_weights
# breaks: writes other values into `W` and `b`, in place
# edits: adds_bias_only
-        return output + module.b
+        return input[0].sum(1, keepdim=True) * module.W.mean() + module.b

# %% square_bias
# misconception: b has the shape of W | hint: linear_bias_shape
# edits: buffer_bias
-        module.register_buffer("b", torch.rand(2))
+        module.b = Parameter(torch.rand_like(module.W))

# %% two_arguments
# misconception: a forward hook with two arguments | hint: hook_arguments
# edits: adds_bias_only
-    def hook(module, input, output):
-        return output + module.b
+    def hook(module, output):
+        return output @ module.W + module.b

# %% unbound_forward
# misconception: a plain function on an object gets no self | hint: unbound_function
# edits: bias_not_initialised
         module.W.data.fill_(1)
+        module.b.data.fill_(1)
+
+
+def new_forward(self, X):
+    return X @ self.W + self.b
@@
-        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)
+        module.forward = new_forward

# %% uses_output
# misconception: multiplies the old output | hint: uses_old_output
# edits: adds_bias_only
-        return output + module.b
+        return output @ module.W + module.b

# %% weights_random
# misconception: adds b, initialises nothing | hint: apply_changes_nothing
# edits: bias_not_initialised
-    if hasattr(module, "W"):
-        module.W.data.fill_(1)
+    W, b = torch.ones(2, 2), torch.ones(2)
+    return W, b

# %% wrong_order_of_calls
# misconception: initialises before b exists, so b stays random | hint: bias_not_one
# edits: initialised_too_early
 returned_module = model.apply(weight_initialization)
+returned_module = model.apply(add_bias)

# %% wrong_side
# misconception: multiplies from the wrong side | hint: wrong_side
# edits: adds_bias_only
-        return output + module.b
+        return module.W @ input[0] + module.b

# %% ones_by_birth
# misconception: b is made of ones, and so is not set to 1 | hint: bias_not_one
# breaks: sets every element of `W` and of `b` to 1
# edits: the_two_objects_fixed_beforehand
-        module.b = Parameter(torch.zeros(2))
+        module.b = Parameter(torch.ones(2))
@@
-        nn.init.ones_(module.b)
@@
-        module.forward = partial(F.linear, weight=module.W, bias=module.b)
+        module.forward = lambda X: X @ module.W + module.b

# %% output_in_a_tuple
# misconception: returns a tuple from the hook, because the inputs come in one | hint: output_in_a_tuple
# edits: the_two_objects_fixed_beforehand
-        module.forward = partial(F.linear, weight=module.W, bias=module.b)
+        module.register_forward_hook(lambda module, args, output: (args[0] @ module.W + module.b,))

# %% input_from_the_old_output
# misconception: undoes the old forward to get X back | hint: needs_the_old_output
# breaks: makes every `Function_*` return `X @ W + b`
# edits: the_two_objects_fixed_beforehand

+def linear(module, args, output):
+    if isinstance(module, Function_A):
+        X = output - module.W
+    elif isinstance(module, Function_B):
+        X = output + module.W
+    elif isinstance(module, Function_C):
+        X = output / module.W
+    else:
+        X = output * module.W
+    return X @ module.W + module.b
+
+
 def linear_transformation(module):
@@
-        module.forward = partial(F.linear, weight=module.W, bias=module.b)
+        module.register_forward_hook(linear)

# %% divided_by_itself
# misconception: what is divided by itself is 1, but not 0 / 0 | hint: depends_on_old_value
# breaks: sets every element of `W` and of `b` to 1
# edits: ones_by_birth
-        nn.init.ones_(module.W)
+        with torch.no_grad():
+            module.W.div_(module.W)
+            module.b.div_(module.b)

# %% biases_in_one_memory
# misconception: every b is a Parameter of its own, made from one and the same tensor | hint: memory_shared
# breaks: each its own
# edits: the_two_objects_fixed_beforehand
 model = Model(shape=(2, 2))
+zeros = torch.zeros(2)
@@
-        module.b = Parameter(torch.zeros(2))
+        module.b = Parameter(zeros)
@@
-        module.forward = partial(F.linear, weight=module.W, bias=module.b)
+        module.forward = lambda X: X @ module.W + module.b

# %% linear_layers_in_their_places
# misconception: the parent puts an nn.Linear into the place of each function | hint: module_replaced
# edits: the_two_objects_fixed_beforehand
-    if hasattr(module, "W"):
-        module.forward = partial(F.linear, weight=module.W, bias=module.b)
+    for name, child in module.named_children():
+        if hasattr(child, "W"):
+            linear = nn.Linear(2, 2)
+            linear.weight, linear.bias = child.W, child.b
+            setattr(module, name, linear)
