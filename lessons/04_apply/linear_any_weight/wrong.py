# nothing to break: You may rely on this: the trees are made of the classes of this lesson only, though a tree may be a single `Function_*`, and no `Function_*` has a `b` before your function has been there.
# nothing to break: Write one function for `apply`, `make_linear(module)`.
# nothing to break: Once more every `Function_*` becomes linear, this time in a way that lasts.
# nothing to break: And it lasts:

# %% all_modules
# misconception: gives b to every module | hint: not_every_module_has_it
def make_linear(module):
    if not hasattr(module, "b"):
        module.b = Parameter(torch.zeros(module.W.shape[1]))
    module.forward = partial(lambda self, X: X @ self.W + self.b, module)

# %% b_of_anything
# misconception: rewires whatever has a b | hint: child_of_that_name
def make_linear(module):
    if "Function" in type(module).__name__ and not hasattr(module, "b"):
        module.b = Parameter(torch.zeros(module.W.shape[1]))
    if hasattr(module, "b"):
        width = module.b.shape[0]
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)

# %% bias_for_layers_too
# misconception: gives b to the layers too | hint: touches_other_modules
def make_linear(module):
    if not hasattr(module, "b"):
        width = module.W.shape[1] if hasattr(module, "W") else 3
        module.b = Parameter(torch.zeros(width))
    if hasattr(module, "W"):
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)

# %% bias_not_used
# misconception: b is there, and not in the formula | hint: forgets_bias
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(lambda self, X: X @ self.W, module)

# %% bias_of_rows
# misconception: b has the size of the input | hint: linear_bias_shape
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[0]))
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)

# %% bias_of_two
# misconception: the size of the other exercise | hint: linear_bias_shape
# breaks: `W` has any shape `(n, m)`
# edits: bias_of_rows
-            module.b = Parameter(torch.zeros(module.W.shape[0]))
+            module.b = Parameter(torch.zeros(2))

# %% bias_plain
# misconception: b is a plain tensor | hint: tensor_for_parameter
# breaks: has a `Parameter` called `b`
# edits: bias_of_rows
-            module.b = Parameter(torch.zeros(module.W.shape[0]))
+            module.b = torch.zeros(module.W.shape[1], requires_grad=True)

# %% bias_random
# misconception: b begins with random values | hint: wrong_start
# breaks: zeros of shape `(m,)`
# edits: bias_of_rows
-            module.b = Parameter(torch.zeros(module.W.shape[0]))
+            module.b = Parameter(torch.rand(module.W.shape[1]))

# %% bias_row_matrix
# misconception: b is a row matrix | hint: linear_bias_shape
# edits: bias_of_rows
-            module.b = Parameter(torch.zeros(module.W.shape[0]))
+            module.b = Parameter(torch.zeros(1, module.W.shape[1]))

# %% class_patched
# misconception: sets forward on the class | hint: forward_class_patched
# breaks: Everything else keeps its own `forward`
# breaks: Do not change the classes.
def linear_forward(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if "b" not in module._parameters:
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        type(module).forward = linear_forward


model = Model(shape=(3, 3))
model.apply(make_linear)

# %% closure
# misconception: the function remembers the module around it | hint: copy_remembers_original
# breaks: **Copied** with `copy.deepcopy`, the copy computes with its own
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = lambda X: X @ module.W + module.b


model = Model(shape=(3, 3)).apply(make_linear)

# %% default_argument
# misconception: the module in a default argument | hint: copy_remembers_original
# edits: closure
-        module.forward = lambda X: X @ module.W + module.b
+
+        def forward(X, self=module):
+            return X @ self.W + self.b
+
+        module.forward = forward

# %% detached_weight
# misconception: computes with W.data | hint: gradient_cut
# breaks: lets `W`, `b` and `X` get their gradients
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+        module.forward = partial(lambda self, X: X @ self.W.data + self.b, module)

# %% dunder_call
# misconception: sets __call__ on the object | hint: dunder_on_instance
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+        module.__call__ = partial(lambda self, X: X @ self.W + self.b, module)

# %% elementwise
# misconception: multiplies element by element | hint: elementwise_product
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+        module.forward = partial(lambda self, X: X * self.W + self.b, module)

# %% f_linear
# misconception: F.linear transposes its weight | hint: weight_turned_over
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+        module.forward = partial(lambda self, X: F.linear(X, self.W, self.b), module)

# %% global_model
# misconception: works on the notebook's model | hint: apply_uses_global_model
# breaks: After `model.apply(make_linear)` every `Function_*` in `model`
model = Model(shape=(3, 3))


def make_linear(module):
    for part in (model.ab.a, model.ab.b, model.cd.c, model.cd.d):
        if not hasattr(part, "b"):
            part.b = Parameter(torch.zeros(part.W.shape[1]))
        part.forward = partial(lambda self, X: X @ self.W + self.b, part)


model.apply(make_linear)

# %% harmless_hook_each_time
# misconception: each hook computes the same again | hint: second_time_on_top
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = lambda X: X
        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)

# %% hook_closure
# misconception: a hook that reads the module around it | hint: copy_remembers_original
def make_linear(module):
    def hook(m, args, output):
        return args[0] @ module.W + module.b

    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)) and not hasattr(module, "b"):
        module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = lambda X: X
        module.register_forward_hook(hook)

# %% hook_each_time
# misconception: adds one more hook each time | hint: second_time_on_top
# breaks: **Applied again**, it changes nothing
# edits: harmless_hook_each_time
-        module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)
+        module.register_forward_hook(lambda m, args, X: X @ m.W + m.b)

# %% hook_only
# misconception: the old forward runs before the hook | hint: old_forward_gets_it_first
# breaks: so it must not run any more
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+            module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)

# %% linear_in_class
# misconception: calls nn.Linear with its own weight inside | hint: linear_inside
# breaks: and no other new parameter
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        n, m = module.W.shape
        module.linear = nn.Linear(n, m)
        module.b = module.linear.bias
        module.forward = module.linear.forward

# %% new_bias_each_time
# misconception: makes b anew each time | hint: second_time_anew
# breaks: A `b` that is there stays, the same object
# edits: class_patched
-        if "b" not in module._parameters:
-            module.b = Parameter(torch.zeros(module.W.shape[1]))
-        type(module).forward = linear_forward
+        module.b = Parameter(torch.zeros(module.W.shape[1]))
+        module.forward = partial(linear_forward, module)

# %% no_bias
# misconception: adds no b | hint: bias_missing
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(lambda self, X: X @ self.W + b, module)

# %% no_grad_forward
# misconception: computes under no_grad | hint: gradient_cut
@torch.no_grad()
def forward(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(forward, module)

# %% pre_hook
# misconception: a forward pre-hook, with the old forward behind it | hint: pre_hook_keeps_forward
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+            module.register_forward_pre_hook(lambda m, args: args[0] @ m.W + m.b)

# %% transposed
# misconception: multiplies by W.T | hint: weight_turned_over
# breaks: returns `X @ W + b` for an `X` of shape
# edits: no_grad_forward
-@torch.no_grad()
@@
-    return X @ self.W + self.b
+    return X @ self.W.T + self.b

# %% unbound
# misconception: a plain function on an object gets no self | hint: unbound_function
# edits: no_grad_forward
-@torch.no_grad()
@@
-        module.forward = partial(forward, module)
+        module.forward = forward

# %% weights_at_apply
# misconception: keeps the values of the moment | hint: stale_weights
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        W = module.W.detach().clone()
        module.forward = partial(lambda self, X: X @ W + self.b, module)

# %% wrong_side
# misconception: W on the left | hint: weight_turned_over
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+        module.forward = partial(lambda self, X: self.W @ X + self.b, module)

# %% zeroed_each_time
# misconception: sets b to zero each time | hint: second_time_anew
# breaks: the same object with its values
def linear_forward(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.empty(module.W.shape[1]))
        nn.init.zeros_(module.b)
        module.forward = partial(linear_forward, module)

# %% weight_made_anew
# misconception: makes a new W with the values of the old one | hint: parameter_replaced
# breaks: and stays as it is, the same object
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if "b" not in module._parameters:
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.W = Parameter(module.W.detach().clone())
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)

# %% squeezed
# misconception: drops a dimension of one row | hint: one_row
# breaks: with one row or more
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+        module.forward = partial(lambda self, X: (X @ self.W).squeeze() + self.b, module)

# %% gradient_in_training_only
# misconception: takes eval mode for a mode without gradients | hint: gradient_cut
# breaks: in training and in eval mode
def linear(self, X):
    with torch.set_grad_enabled(self.training):
        return X @ self.W + self.b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(linear, module)

# %% children_of_the_module
# misconception: rewires the children of the module that it is given | hint: only_the_children
def make_linear(module):
    for child in module.children():
        if isinstance(child, (Function_A, Function_B, Function_C, Function_D)):
            if not hasattr(child, "b"):
                child.b = Parameter(torch.zeros(child.W.shape[1]))
            child.forward = partial(lambda self, X: X @ self.W + self.b, child)

# %% old_forward_tried_first
# misconception: lets the old forward run, and catches its error | hint: old_forward_gets_it_first
# edits: gradient_in_training_only
-    with torch.set_grad_enabled(self.training):
-        return X @ self.W + self.b
+    try:
+        type(self).forward(self, X)
+    except RuntimeError:
+        pass
+    return X @ self.W + self.b

# %% list_of_those_done
# misconception: remembers outside of the modules which of them it has done, and a copy is none of them | hint: second_time_anew
# breaks: A `b` that is there stays, the same object with its values
done = set()


def make_linear(module):
    if type(module).__name__.startswith("Function_") and module not in done:
        done.add(module)
        module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(lambda self, X: X @ self.W + self.b, module)


model = Model(shape=(3, 3)).apply(make_linear)

# %% class_with_a_choice
# misconception: a forward on the class that asks whether the object has a b | hint: forward_class_patched
# breaks: Do not change the classes.
def with_choice(old):
    def forward(self, X):
        return X @ self.W + self.b if "b" in self._parameters else old(self, X)

    forward.chooses = True
    return forward


def make_linear(module):
    if hasattr(module, "W"):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        if not hasattr(type(module).forward, "chooses"):
            type(module).forward = with_choice(type(module).forward)


model = Model(shape=(3, 3))
model.apply(make_linear)

# %% self_as_keyword
# misconception: fixes self by its name, and X comes to its place | hint: self_by_name
def linear(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if hasattr(module, "W"):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(linear, self=module)

# %% transposed_once
# misconception: keeps the transpose, which deepcopy refuses | hint: copy_of_a_result
# breaks: **Copied** with `copy.deepcopy`
def make_linear(module):
    if hasattr(module, "W") and not hasattr(module, "b"):
        module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(F.linear, weight=module.W.T, bias=module.b)
