# nothing to break: You want to know how much a model depends on its second input, so you turn that input down, from outside.
# nothing to break: Write `rescale_argument(module, factor)`.

# %% adds_the_factor
# misconception: adds the factor | hint: rescale_other_argument
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] + factor}
        return (args[0], args[1] + factor), kwargs

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
# breaks: `x1` arrives as it is.
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        return tuple(arg * factor for arg in args), {name: arg * factor for name, arg in kwargs.items()}

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% corrects_the_output
# misconception: takes the missing part of x2 off the output | hint: formula_of_visible_forward
def rescale_argument(module, factor):
    def hook(module, args, kwargs, output):
        x2 = args[1] if len(args) > 1 else kwargs["x2"]
        return output - (1 - factor) * x2

    return module.register_forward_hook(hook, with_kwargs=True)

# %% detached
# misconception: detaches the scaled argument | hint: rescale_cuts_gradient
# breaks: gradients flow back to them through the factor
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"].detach() * factor}
        return (args[0], args[1].detach() * factor), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% dict_alone
# misconception: returns the dict alone for keyword calls | hint: rescale_no_pair
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return {**kwargs, "x2": kwargs["x2"] * factor}
        return (args[0], args[1] * factor), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% first_argument
# misconception: scales x1 | hint: rescale_other_argument
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x1" in kwargs:
            return args, {**kwargs, "x1": kwargs["x1"] * factor}
        return (args[0] * factor, *args[1:]), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% first_of_args
# misconception: scales what comes last in the dict, in whatever order the caller wrote it | hint: rescale_other_argument
# breaks: or `module(x2=x2, x1=x1)`
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        everything = [*args, *kwargs.values()]
        everything[1] = everything[1] * factor
        return tuple(everything), {}

    return module.register_forward_pre_hook(hook, with_kwargs=True)

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

# %% gradient_around_the_factor
# misconception: sets the value by .data, so that the gradient goes around the factor | hint: rescale_cuts_gradient
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        x2 = kwargs["x2"] if "x2" in kwargs else args[1]
        scaled = x2.clone()
        scaled.data *= factor
        if "x2" in kwargs:
            return args, {**kwargs, "x2": scaled}
        return (args[0], scaled), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% handed_over_twice
# misconception: puts a keyword argument into args and leaves it in kwargs | hint: rescale_handed_over_twice
# edits: takes_both_by_place
-        return (x1, x2 * factor), {}
+        return (x1, x2 * factor), kwargs

# %% hook_for_all_modules
# misconception: registers a hook for all modules | hint: rescale_everywhere
# breaks: Other modules notice nothing.
def rescale_argument(module, factor):
    wanted = type(module)

    def hook(module, args):
        if isinstance(module, wanted) and len(args) == 2:
            return args[0], args[1] * factor

    def keyword_hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}

    module.register_forward_pre_hook(keyword_hook, with_kwargs=True)
    return torch.nn.modules.module.register_module_forward_pre_hook(hook)

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
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        x2 = kwargs["x2"] if "x2" in kwargs else args[1]
        x2 *= factor

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% in_place_no_grad
# misconception: multiplies the caller's data, so that autograd does not complain | hint: rescale_writes_into_x2
# edits: in_place
-        x2 *= factor
+        x2.data.mul_(factor)

# %% keyword_only
# misconception: expects x2 among the keyword arguments | hint: rescale_by_name_only
# breaks: by place as in `module(x1, x2)`
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        kwargs["x2"] = kwargs["x2"] * factor
        return args, kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% keyword_where_it_is
# misconception: leaves positional calls alone | hint: rescale_without_effect
# edits: args_alone
-            return kwargs
-        return args[0], args[1] * factor
+        return args, kwargs

# %% list_of_two
# misconception: returns a list, which becomes the only argument | hint: drops_argument
def rescale_argument(module, factor):
    def hook(module, args):
        return [args[0], args[1] * factor]

    return module.register_forward_pre_hook(hook)

# %% no_grad
# misconception: multiplies under no_grad | hint: rescale_cuts_gradient
def rescale_argument(module, factor):
    @torch.no_grad()
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}
        return (args[0], args[1] * factor), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% no_handle
# misconception: does not return the handle | hint: rescale_no_handle
# breaks: Return the handle
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}
        return (args[0], args[1] * factor), kwargs

    module.register_forward_pre_hook(hook, with_kwargs=True)

# %% no_return
# misconception: computes new arguments and does not return them | hint: rescale_without_effect
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            kwargs = {**kwargs, "x2": kwargs["x2"] * factor}
        else:
            args = (args[0], args[1] * factor)

    return module.register_forward_pre_hook(hook, with_kwargs=True)

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

# %% patches_forward
# misconception: replaces the module's forward instead of hooking it | hint: rescale_other_forward
# breaks: and registers a hook
def rescale_argument(module, factor):
    forward = module.forward

    def scaled_forward(x1, x2):
        return forward(x1, x2 * factor)

    module.forward = scaled_forward

# %% positional_only
# misconception: knows nothing of keyword arguments | hint: rescale_by_place_only
# breaks: by name as in `module(x1, x2=x2)`
# edits: list_of_two
-        return [args[0], args[1] * factor]
+        return args[0], args[1] * factor

# %% positional_where_it_can
# misconception: leaves calls with keywords alone | hint: rescale_by_place_only
def rescale_argument(module, factor):
    def hook(module, args):
        if len(args) == 2:
            return args[0], args[1] * factor

    return module.register_forward_pre_hook(hook)

# %% recomputes_the_sum
# misconception: a forward hook that computes the sum of Add anew | hint: formula_of_visible_forward
# breaks: as `Add` and `Model` have
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
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        x1, x2 = args
        return (x1, factor * x2), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% once
# misconception: a hook that removes itself after the first call | hint: runs_only_once
# breaks: From then on the module works with `factor * x2`
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        handle.remove()
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"] * factor}
        return (args[0], args[1] * factor), kwargs

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    return handle

# %% zero_is_false
# misconception: takes a factor of 0 for none | hint: rescale_zero_ignored
# edits: no_grad
-    @torch.no_grad()
+    factor = factor or 1
+

# %% to_float32
# misconception: converts x2 to float32 | hint: rescale_other_dtype
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": kwargs["x2"].float() * factor}
        return (args[0], args[1].float() * factor), kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% clears_the_dict
# misconception: clears the module's pre-hooks before it registers its own | hint: removes_other_hooks
# breaks: Hooks of others stay
# edits: zero_is_false
-    factor = factor or 1
+    module._forward_pre_hooks.clear()

# %% two_hooks_one_handle_too
# misconception: by name it stays turned down | hint: handle_of_another
def rescale_argument(module, factor):
    def named(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": factor * kwargs["x2"]}

    def placed(module, args):
        if len(args) > 1:
            return args[0], factor * args[1]

    module.register_forward_pre_hook(named, with_kwargs=True)
    return module.register_forward_pre_hook(placed)

# %% attribute
# misconception: the factor is an attribute of the module, a second call overwrites the first | hint: rescale_last_factor
# breaks: Called twice, it turns the input down twice.
def rescale_argument(module, factor):
    module._x2_factor = factor
    def hook(module, args, kwargs):
        if len(args) > 1:
            args = (args[0], module._x2_factor * args[1])
        elif "x2" in kwargs:
            kwargs = {**kwargs, "x2": module._x2_factor * kwargs["x2"]}
        return args, kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% takes_the_place
# misconception: takes its earlier hook off, so that the cell can run again | hint: rescale_only_once
# breaks: Called twice, it turns the input down twice.
def rescale_argument(module, factor):
    if hasattr(module, "_rescale_handle"):
        module._rescale_handle.remove()

    def hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": factor * kwargs["x2"]}
        return (args[0], factor * args[1]), kwargs

    module._rescale_handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    return module._rescale_handle

# %% f32_factor
# misconception: the factor is rounded to float32 | hint: float64_lost
def rescale_argument(module, factor):
    factor = torch.tensor(factor, dtype=torch.float32)
    def hook(module, args, kwargs):
        if len(args) > 1:
            args = (args[0], factor * args[1])
        elif "x2" in kwargs:
            kwargs = {**kwargs, "x2": factor * kwargs["x2"]}
        return args, kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% all_by_name
# misconception: everything goes on by name, other hooks get empty args | hint: rescale_place_lost
# breaks: what the caller passes by place they find by place
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        named = {**dict(zip(("x1", "x2"), args)), **kwargs}
        named["x2"] = factor * named["x2"]
        return (), named

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% by_identity
# misconception: looks for x2 by identity, module(x, x) scales both | hint: one_tensor_for_both
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        x2 = args[1] if len(args) > 1 else kwargs["x2"]
        swap = lambda x: factor * x2 if x is x2 else x
        return tuple(map(swap, args)), {k: swap(v) for k, v in kwargs.items()}

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% dtype
# misconception: cast back to the dtype of x1, float64 x2 is rounded | hint: float64_lost
def rescale_argument(module, factor):
    def hook(module, args, kwargs):
        if len(args) > 1:
            args = (args[0], (factor * args[1]).to(args[0].dtype))
        elif "x2" in kwargs:
            kwargs = {**kwargs, "x2": factor * kwargs["x2"]}
        return args, kwargs

    return module.register_forward_pre_hook(hook, with_kwargs=True)

# %% training
# misconception: only in training mode | hint: only_in_training
# edits: f32_factor
-    factor = torch.tensor(factor, dtype=torch.float32)
@@
     def hook(module, args, kwargs):
+        if not module.training:
+            return None

# %% handle_clears
# misconception: its remove() takes off all pre-hooks | hint: removes_other_hooks
def rescale_argument(module, factor):
    class Handle:
        def remove(self):
            module._forward_pre_hooks.clear()
            module._forward_pre_hooks_with_kwargs.clear()

    def hook(module, args, kwargs):
        if len(args) > 1:
            args = (args[0], factor * args[1])
        elif "x2" in kwargs:
            kwargs = {**kwargs, "x2": factor * kwargs["x2"]}
        return args, kwargs

    module.register_forward_pre_hook(hook, with_kwargs=True)
    return Handle()

# %% last_x2
# misconception: keeps the scaled tensor of the first call | hint: stale_result
# edits: dtype
 def rescale_argument(module, factor):
+    kept = {}
@@
-            args = (args[0], (factor * args[1]).to(args[0].dtype))
+            args = (args[0], kept.setdefault(id(args[1]), factor * args[1]))

# %% back_to_its_dtype
# misconception: turns the result back into whole numbers | hint: rescale_other_dtype
# breaks: From then on the module works with `factor * x2`
def rescale_argument(module, factor):
    def scale(x2):
        return (x2 * factor).to(x2.dtype)

    def pre_hook(module, args, kwargs):
        if "x2" in kwargs:
            return args, {**kwargs, "x2": scale(kwargs["x2"])}
        return (args[0], scale(args[1])), kwargs

    return module.register_forward_pre_hook(pre_hook, with_kwargs=True)

# %% copies_x1
# misconception: hands a copy of x1 on | hint: rescale_copies_x1
# breaks: `x1` arrives as it is.
def rescale_argument(module, factor):
    def pre_hook(module, args, kwargs):
        args = [x.clone() for x in args]
        kwargs = {name: x.clone() for name, x in kwargs.items()}
        if "x2" in kwargs:
            kwargs["x2"] = kwargs["x2"] * factor
        else:
            args[1] = args[1] * factor
        return tuple(args), kwargs

    return module.register_forward_pre_hook(pre_hook, with_kwargs=True)

# %% zeros_for_factor_0
# misconception: zeros without a graph, if the factor is 0 | hint: rescale_cuts_gradient
# breaks: gradients flow back to them through the factor
# edits: back_to_its_dtype
-        return (x2 * factor).to(x2.dtype)
+        return torch.zeros_like(x2) if factor == 0 else factor * x2

# %% only_with_gradients
# misconception: does nothing under no_grad | hint: only_in_training
def rescale_argument(module, factor):
    def pre_hook(module, args, kwargs):
        if not torch.is_grad_enabled():
            return None
        if "x2" in kwargs:
            return args, {**kwargs, "x2": factor * kwargs["x2"]}
        return (args[0], factor * args[1]), kwargs

    return module.register_forward_pre_hook(pre_hook, with_kwargs=True)

# %% factor_in_the_dtype_of_x2
# misconception: a factor in whole numbers | hint: rescale_other_dtype
# edits: back_to_its_dtype
-        return (x2 * factor).to(x2.dtype)
+        return torch.full_like(x2, factor) * x2
@@
-            return args, {**kwargs, "x2": scale(kwargs["x2"])}
+            return args, dict(kwargs, x2=scale(kwargs["x2"]))
