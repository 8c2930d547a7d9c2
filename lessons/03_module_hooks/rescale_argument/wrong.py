# %% last_of_args
# misconception: takes what comes last by position for x2 | hint: rescale_other_argument
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if args:
            return (*args[:-1], args[-1] * factor), kwargs
        return args, {**kwargs, "x2": kwargs["x2"] * factor}

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% args_alone
# misconception: returns the arguments without the dict | hint: rescale_no_pair
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            kwargs["x2"] = kwargs["x2"] * factor
            return kwargs
        return args[0], args[1] * factor

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% both_arguments
# misconception: scales every argument | hint: rescale_other_argument
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% detached
# misconception: detaches the scaled argument | hint: rescale_cuts_gradient
# edits: both_arguments
-        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}
+        if "x2" in kwargs:
+            return args, {**kwargs, "x2": kwargs["x2"].detach() * factor}
+        return (args[0], args[1].detach() * factor), kwargs

# %% dict_alone
# misconception: returns the dict alone for keyword calls | hint: rescale_no_pair
# edits: both_arguments
-        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}
+        if "x2" in kwargs:
+            return {**kwargs, "x2": kwargs["x2"] * factor}
+        return (args[0], args[1] * factor), kwargs

# %% first_argument
# misconception: scales x1 | hint: rescale_other_argument
# edits: both_arguments
-        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}
+        if "x1" in kwargs:
+            return args, {**kwargs, "x1": kwargs["x1"] * factor}
+        return (args[0] * factor, *args[1:]), kwargs

# %% first_of_args
# misconception: scales what comes last in the dict, in whatever order the caller wrote it | hint: rescale_other_argument
# edits: both_arguments
-        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}
+        everything = [*args, *kwargs.values()]
+        everything[1] = everything[1] * factor
+        return tuple(everything), {}

# %% forgets_with_kwargs
# misconception: takes kwargs but does not register for them | hint: hook_arguments
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            kwargs["x2"] = kwargs["x2"] * factor
            return args, kwargs
        return (args[0], args[1] * factor), kwargs

    return module.register_forward_pre_hook(hook)

# %% global_factor
# misconception: one hook that reads a global factor | hint: rescale_last_factor
def scale_second(module, args, kwargs):
    if "x2" in kwargs:
        return args, {**kwargs, "x2": kwargs["x2"] * current_factor}
    return (args[0], args[1] * current_factor), kwargs


def rescale_argument(module, factor):
    global current_factor
    current_factor = factor
    return module.register_forward_pre_hook(scale_second, with_kwargs=True)

# %% handed_over_twice
# misconception: puts a keyword argument into args and leaves it in kwargs | hint: rescale_handed_over_twice
# edits: takes_both_by_place
-        return (x1, x2 * factor), {}
+        return (x1, x2 * factor), kwargs

# %% hooks_the_notebook
# misconception: registers on the notebook's module | hint: function_uses_global
add = Add()


def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}
        return (args[0], args[1] * factor), kwargs

    return add.register_forward_pre_hook(hook, with_kwargs=True)

# %% in_place
# misconception: multiplies the caller's tensor in place | hint: rescale_writes_into_x2
# breaks: The caller's own tensors stay as they are
# edits: both_arguments
-        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}
+        x2 = kwargs["x2"] if "x2" in kwargs else args[1]
+        x2 *= factor

# %% keyword_only
# misconception: expects x2 among the keyword arguments | hint: rescale_by_name_only
# edits: both_arguments
-        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}
+        kwargs["x2"] = kwargs["x2"] * factor
+        return args, kwargs

# %% list_of_two
# misconception: returns a list, which becomes the only argument | hint: drops_argument
def rescale_argument(module, factor):
    def hook(module, args):
        return [args[0], args[1] * factor]

    return module.register_forward_pre_hook(hook)

# %% no_grad
# misconception: multiplies under no_grad | hint: rescale_cuts_gradient
# edits: dict_alone
+    @torch.no_grad()
     def hook(module, args, kwargs):
         if "x2" in kwargs:
-            return {**kwargs, "x2": kwargs["x2"] * factor}
+            return args, {**kwargs, "x2": kwargs["x2"] * factor}

# %% no_handle
# misconception: does not return the handle | hint: rescale_no_handle
# breaks: Return the handle.
# edits: no_grad
-    @torch.no_grad()
@@
-    return module.register_forward_pre_hook(hook, with_kwargs=True)
+    module.register_forward_pre_hook(hook, with_kwargs=True)

# %% no_return
# misconception: computes new arguments and does not return them | hint: rescale_without_effect | canary
# edits: both_arguments
-        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}
+        if "x2" in kwargs:
+            kwargs = {**kwargs, "x2": kwargs["x2"] * factor}
+        else:
+            args = (args[0], args[1] * factor)

# %% not_registered
# misconception: defines the hook and returns it | hint: returns_nothing
# edits: no_handle
-    module.register_forward_pre_hook(hook, with_kwargs=True)
+    return hook

# %% one_tensor
# misconception: returns one tensor, which becomes the only argument | hint: drops_argument
# edits: list_of_two
-        return [args[0], args[1] * factor]
+        return args[1] * factor

# %% positional_only
# misconception: knows nothing of keyword arguments | hint: rescale_by_place_only
# breaks: whether the caller passes `x2` by position or by keyword
# edits: list_of_two
-        return [args[0], args[1] * factor]
+        return args[0], args[1] * factor

# %% recomputes_the_sum
# misconception: a forward hook that computes the sum of Add anew | hint: formula_of_visible_forward
# breaks: for a module that takes `x1` and `x2`, as `Add` does
def rescale_argument(module, factor):
    def hook(module, args, kwargs, output):
        x1 = args[0] if len(args) > 0 else kwargs["x1"]
        x2 = args[1] if len(args) > 1 else kwargs["x2"]
        return x1 + factor * x2

    return module.register_forward_hook(hook, with_kwargs=True)

# %% scales_the_output
# misconception: a forward hook that scales the output | hint: rescale_other_argument
def rescale_argument(module, factor):
    def hook(module, args, output):
        return output * factor

    return module.register_forward_hook(hook)

# %% two_arguments_with_kwargs
# misconception: registers for kwargs but does not take them | hint: hook_arguments
# edits: positional_only
-    return module.register_forward_pre_hook(hook)
+    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% two_hooks_one_handle
# misconception: registers one hook for each way and returns the second handle | hint: handle_of_another
def rescale_argument(module, factor):
    def by_place(module, args):
        if len(args) == 2:
            return args[0], args[1] * factor

    def by_name(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}

    module.register_forward_pre_hook(by_place)
    return module.register_forward_pre_hook(by_name, with_kwargs=True)

# %% unpacks_args
# misconception: unpacks two arguments though one may be missing | hint: rescale_by_place_only
# edits: both_arguments
-        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}
+        x1, x2 = args
+        return (x1, factor * x2), kwargs

# %% once
# misconception: a hook that removes itself after the first call | hint: runs_only_once
# edits: no_handle
+        handle.remove()
         if "x2" in kwargs:
@@
-    module.register_forward_pre_hook(hook, with_kwargs=True)
+    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
+    return handle

# %% own_handle
# misconception: another forward, which a handle of the learner's own takes off | hint: rescale_other_forward
class Restore:
    def __init__(self, module):
        self.module = module

    def remove(self):
        del self.module.forward


def rescale_argument(module, factor):
    forward = module.forward
    module.forward = lambda x1, x2: forward(x1, factor * x2)
    return Restore(module)

# %% factor_of_the_example
# misconception: multiplies by the number of the example | hint: rescale_other_factor
# breaks: the module works with `factor * x2`
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": 0.5 * kwargs["x2"]}
        return (args[0], 0.5 * args[1]), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)
