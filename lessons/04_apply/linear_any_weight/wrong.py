# nothing to break: Write one function for `apply`: `make_linear(module)`.

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

# %% bias_not_used
# misconception: b is there, and not in the formula | hint: forgets_bias | canary
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
# breaks: for a `W` of any shape `(n, m)`
# edits: bias_of_rows
-            module.b = Parameter(torch.zeros(module.W.shape[0]))
+            module.b = Parameter(torch.zeros(2))

# %% bias_plain
# misconception: b is a plain tensor | hint: tensor_for_parameter
# breaks: It gives every `Function_*` a `Parameter` `b`
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
# breaks: the classes, and everything outside `model`, stay as they are
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
# breaks: A **copy** made with `copy.deepcopy` computes with its own
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+        module.forward = lambda X: X @ module.W + module.b
+
+
+model = Model(shape=(3, 3)).apply(make_linear)

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
model = Model(shape=(3, 3))


def make_linear(module):
    for part in (model.ab.a, model.ab.b, model.cd.c, model.cd.d):
        if not hasattr(part, "b"):
            part.b = Parameter(torch.zeros(part.W.shape[1]))
        part.forward = partial(lambda self, X: X @ self.W + self.b, part)


model.apply(make_linear)

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
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+        module.forward = lambda X: X
+        module.register_forward_hook(lambda m, args, X: X @ m.W + m.b)

# %% hook_only
# misconception: the old forward runs before the hook | hint: old_forward_gets_it_first
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+            module.register_forward_hook(lambda m, args, output: args[0] @ m.W + m.b)

# %% linear_in_class
# misconception: calls nn.Linear with its own weight inside | hint: linear_inside
def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        n, m = module.W.shape
        module.linear = nn.Linear(n, m)
        module.b = module.linear.bias
        module.forward = module.linear.forward

# %% new_bias_each_time
# misconception: makes b anew each time | hint: second_time_anew
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

# %% pre_hook
# misconception: a forward pre-hook, with the old forward behind it | hint: pre_hook_keeps_forward
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+            module.register_forward_pre_hook(lambda m, args: args[0] @ m.W + m.b)

# %% unbound
# misconception: a plain function on an object gets no self | hint: unbound_function
def forward(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = forward

# %% weights_at_apply
# misconception: keeps the values of the moment | hint: stale_weights
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+        W = module.W.detach().clone()
+        module.forward = partial(lambda self, X: X @ W + self.b, module)

# %% wrong_side
# misconception: W on the left | hint: weight_turned_over
# edits: bias_not_used
-        module.forward = partial(lambda self, X: X @ self.W, module)
+        module.forward = partial(lambda self, X: self.W @ X + self.b, module)

# %% zeroed_each_time
# misconception: sets b to zero each time | hint: second_time_anew
def linear_forward(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.empty(module.W.shape[1]))
        nn.init.zeros_(module.b)
        module.forward = partial(linear_forward, module)

# %% whatever_has_a_W
# misconception: takes each module that has a W for a Function | hint: true_for_others
# breaks: Other modules
# edits: partial_of_tensors
-    if isinstance(module, (Function_A, Function_B, Function_C, Function_D)) and not hasattr(module, "b"):
+    if hasattr(module, "W") and not hasattr(module, "b"):

# %% set_outside
# misconception: a set outside tells which modules have their b, and no copy is in it | hint: second_time_anew
# edits: new_bias_each_time
-        module.b = Parameter(torch.zeros(module.W.shape[1]))
+        if module not in DONE:
+            module.b = Parameter(torch.zeros(module.W.shape[1]))
+        DONE.add(module)
@@
-model = Model(shape=(3, 3))
+model, DONE = Model(shape=(3, 3)), set()

# %% self_as_keyword
# misconception: fixes self by its name, and X comes to its place | hint: self_by_name
def linear(self, X):
    return X @ self.W + self.b


def make_linear(module):
    if hasattr(module, "W"):
        if not hasattr(module, "b"):
            module.b = Parameter(torch.zeros(module.W.shape[1]))
        module.forward = partial(linear, self=module)
