# nothing to break: You want to train only a part of a network, and steer it from outside, with one hook for each wish

# %% bare_tensor
# misconception: returns a bare tensor | hint: full_hook_return
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return torch.zeros_like(grad_input[0])

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    return module.register_full_backward_pre_hook(hook)

# %% bare_tensor_before
# misconception: the pre-hook returns a bare tensor | hint: stop_pre_hook_return
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)
@@
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+        return torch.zeros_like(grad_output[0])

# %% both_after
# misconception: both with a full backward hook | hint: stop_too_late
# breaks: the module's own parameters get gradients of zero as well
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)

# %% both_before
# misconception: both with a full backward pre-hook | hint: stop_too_early
# breaks: the module itself still learns as before
def stop_in_front(module):
    return stop_from_here(module)


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    return module.register_full_backward_pre_hook(hook)

# %% detaches_the_input
# misconception: detaches the module's inputs | hint: no_grad_is_not_zero
# edits: both_before
-    return stop_from_here(module)
+    return module.register_forward_pre_hook(lambda module, args: tuple(arg.detach() for arg in args))

# %% detaches_the_output
# misconception: detaches the module's output | hint: no_grad_is_not_zero
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, args, output):
        if isinstance(output, tuple):
            return tuple(one.detach() for one in output)
        return output.detach()

    return module.register_forward_hook(hook)

# %% expects_tensors
# misconception: takes every entry for a tensor | hint: first_layer_none_as_tensor
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        return tuple(torch.zeros_like(grad) for grad in grad_input)
@@
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+        return tuple(torch.zeros_like(grad) for grad in grad_output)

# %% first_entry_only
# misconception: zeroes the first entry and keeps the others | hint: stop_first_entry_only
# breaks: The module may have several inputs and outputs
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        if grad_input[0] is not None:
+            return (torch.zeros_like(grad_input[0]), *grad_input[1:])
@@
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+        if grad_output[0] is not None:
+            return (torch.zeros_like(grad_output[0]), *grad_output[1:])

# %% for_all_modules
# misconception: registers hooks for all modules | hint: global_hook
# breaks: those of later layers
from torch.nn.modules.module import register_module_full_backward_hook, register_module_full_backward_pre_hook


def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return register_module_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    return register_module_full_backward_pre_hook(hook)

# %% freezes_the_parameters
# misconception: freezes the parameters | hint: no_grad_is_not_zero
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    module.requires_grad_(False)
    return stop_in_front(module)

# %% full_hook_returns_grad_output
# misconception: a full backward hook that returns zeros for the output | hint: full_hook_return
# edits: both_after
 def stop_from_here(module):
     def hook(module, grad_input, grad_output):
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)
+        zeros = [torch.zeros_like(grad) for grad in grad_output]
+        return (*grad_input, *zeros)


# %% generator
# misconception: returns a generator | hint: stop_generator
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        return (torch.zeros_like(grad) for grad in grad_input)
@@
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+        return (torch.zeros_like(grad) for grad in grad_output)

# %% hooks_on_the_parameters
# misconception: tensor hooks on the parameters only | hint: stop_own_only
# edits: freezes_the_parameters
-    module.requires_grad_(False)
-    return stop_in_front(module)
+    for parameter in module.parameters():
+        handle = parameter.register_hook(torch.zeros_like)
+    return handle

# %% hooks_the_notebook
# misconception: registers on the notebook's model | hint: function_uses_global
# edits: for_all_modules
-from torch.nn.modules.module import register_module_full_backward_hook, register_module_full_backward_pre_hook
+model = Model()
@@
-    return register_module_full_backward_hook(hook)
+    return model.register_full_backward_hook(hook)
@@
-    return register_module_full_backward_pre_hook(hook)
+    return model.register_full_backward_pre_hook(hook)

# %% in_place
# misconception: zeroes the gradients in place | hint: edits_in_place
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        for grad in grad_input:
            if grad is not None:
                grad.zero_()

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def hook(module, grad_output):
        for grad in grad_output:
            if grad is not None:
                grad.zero_()

    return module.register_full_backward_pre_hook(hook)

# %% legacy_hook
# misconception: registers the deprecated hook | hint: legacy_hook
# edits: both_before
-    return stop_from_here(module)
+    def hook(module, grad_input, grad_output):
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)
+
+    return module.register_backward_hook(hook)

# %% list_of_none
# misconception: returns a list, also where it holds nothing but None | hint: stop_none_replaced
# edits: one_helper
-    return tuple([grad if grad is None else grad.new_zeros(grad.shape) for grad in grads])
+    return [None if grad is None else torch.zeros_like(grad) for grad in grads]

# %% no_handle
# misconception: returns no handle | hint: stop_no_handle
# breaks: Both return the handle
# edits: legacy_hook
-    return module.register_backward_hook(hook)
+    module.register_full_backward_hook(hook)
@@
-    return module.register_full_backward_pre_hook(hook)
+    module.register_full_backward_pre_hook(hook)

# %% no_return
# misconception: makes zeros and does not return them | hint: stop_without_effect
# breaks: the earlier layers get gradients of **zero** through it
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        grad_input = tuple(torch.zeros_like(grad) for grad in grad_input)
@@
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+        grad_output = tuple(torch.zeros_like(grad) for grad in grad_output)

# %% none_for_zero
# misconception: returns None for each entry | hint: no_grad_is_not_zero
# breaks: Write zeros, tensors of zeros and not `None`
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        return (None,) * len(grad_input)
@@
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+        return (None,) * len(grad_output)

# %% numbers
# misconception: returns the number 0 | hint: stop_number_for_tensor
def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: (0.0,) * len(grad_input))


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: (0.0,) * len(grad_output))

# %% once
# misconception: a hook that removes itself | hint: runs_only_once
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        handle.remove()
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    handle = module.register_full_backward_hook(hook)
    return handle


def stop_from_here(module):
    def hook(module, grad_output):
        handle.remove()
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    handle = module.register_full_backward_pre_hook(hook)
    return handle

# %% one_zero
# misconception: returns a zero of another shape | hint: hook_changes_shape
def stop_in_front(module):
    return module.register_full_backward_hook(
        lambda module, grad_input, grad_output: tuple(torch.zeros(1) for grad in grad_input)
    )


def stop_from_here(module):
    return module.register_full_backward_pre_hook(
        lambda module, grad_output: tuple(torch.zeros(1) for grad in grad_output)
    )

# %% swapped
# misconception: the two kinds of hooks in each other's place | hint: stop_too_early
def stop_in_front(module):
    def hook(module, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    return module.register_full_backward_pre_hook(hook)


def stop_from_here(module):
    def hook(module, grad_input, grad_output):
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

    return module.register_full_backward_hook(hook)

# %% tensor_hooks_on_the_outputs
# misconception: tensor hooks on the module's outputs | hint: stop_hooks_the_tensor
# breaks: those that take another way around it, as in `x + module(x)`
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        return tuple(torch.zeros_like(grad) if torch.is_tensor(grad) else grad for grad in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    def meet_outputs(module, args, output):
        for one in output if isinstance(output, tuple) else (output,):
            if one.requires_grad and one.grad_fn is not None:
                one.register_hook(torch.zeros_like)

    return module.register_forward_hook(meet_outputs)

# %% three_arguments_before
# misconception: a pre-hook of three arguments | hint: hook_arguments
# edits: bare_tensor_before
-    def hook(module, grad_output):
-        return torch.zeros_like(grad_output[0])
+    def hook(module, grad_input, grad_output):
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

# %% times_zero
# misconception: multiplies by 0 | hint: stop_times_zero
# breaks: also if it was `inf` or `nan`
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        return tuple(None if grad is None else grad * 0 for grad in grad_input)
@@
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+        return tuple(None if grad is None else grad * 0 for grad in grad_output)

# %% tuple_of_the_first
# misconception: returns a tuple of the first entry | hint: stop_first_entry_only
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        (first, *_) = grad_input
+        return None if first is None else (torch.zeros_like(first),)
@@
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+        return (torch.zeros_like(grad_output[0]),)

# %% tuple_times_zero
# misconception: multiplies the tuple by 0, which empties it | hint: full_hook_return
def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: grad_input * 0)


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: grad_output * 0)

# %% two_hooks_one_handle
# misconception: registers both kinds and returns one handle | hint: handle_of_another
# breaks: once it is removed, everything learns as before
# edits: hooks_on_the_parameters
-    for parameter in module.parameters():
-        handle = parameter.register_hook(torch.zeros_like)
+    def before(module, grad_output):
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+
+    handle = module.register_full_backward_pre_hook(before)
+    stop_in_front(module)

# %% zero_grad_in_the_hook
# misconception: calls zero_grad in a full backward hook | hint: no_grad_is_not_zero
# edits: both_after
 def stop_from_here(module):
     def hook(module, grad_input, grad_output):
+        module.zero_grad()
         return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

# %% zero_tuple
# misconception: zeros_like of the whole tuple | hint: grad_is_a_tuple
def stop_in_front(module):
    return module.register_full_backward_hook(
        lambda module, grad_input, grad_output: torch.zeros_like(grad_input)
    )


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: torch.zeros_like(grad_output))

# %% zeroes_grad_input_and_weight_grad
# misconception: a full backward hook that also zeroes the weight's .grad | hint: stop_some_parameters
# breaks: gradients of zero as well, all of them
# edits: zero_grad_in_the_hook
-        module.zero_grad()
+        if getattr(module, "weight", None) is not None and module.weight.grad is not None:
+            module.weight.grad.zero_()

# %% zeroes_the_output
# misconception: a forward hook that zeroes the output | hint: changes_the_value
# breaks: What comes out of the network does not change
# edits: detaches_the_output
-            return tuple(one.detach() for one in output)
-        return output.detach()
+            return tuple(one * 0 for one in output)
+        return output * 0

# %% zeros_for_none
# misconception: makes zeros for None as well | hint: stop_none_replaced
# breaks: an entry that **is** `None` must stay `None`
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        return tuple(torch.zeros(1) if grad is None else torch.zeros_like(grad) for grad in grad_input)

# %% pre_hook_once
# misconception: the pre-hook for both wishes, taken off as soon as it has run | hint: stop_too_early
def stop_in_front(module):
    return stop_from_here(module)


def stop_from_here(module):
    def hook(module, grad_output):
        handle.remove()
        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

    handle = module.register_full_backward_pre_hook(hook)
    return handle

# %% tensor_method_on_the_module
# misconception: the tensor's register_hook on a module | hint: register_hook_on_module
def stop_in_front(module):
    return module.register_hook(lambda grad: torch.zeros_like(grad))


def stop_from_here(module):
    return module.register_hook(lambda grad: torch.zeros_like(grad))

# %% float32_zeros
# misconception: zeros of the default dtype | hint: hook_changes_shape
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        return tuple(None if grad is None else torch.zeros(grad.shape) for grad in grad_input)
@@
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+        return tuple(None if grad is None else torch.zeros(grad.shape) for grad in grad_output)

# %% hooks_every_part
# misconception: a hook on every part of the module | hint: stop_in_the_parts
# edits: legacy_hook
-    return module.register_backward_hook(hook)
+    handles = [part.register_full_backward_hook(hook) for part in module.modules()]
+    return handles[0]

# %% unfreezes
# misconception: makes all parameters require a gradient, for their zeros | hint: handle_of_another
# edits: three_arguments_before
 def stop_from_here(module):
-    def hook(module, grad_input, grad_output):
+    module.requires_grad_(True)
+
+    def hook(module, grad_output):

# %% clears_the_dicts
# misconception: clears the module's dicts of hooks, so that the cell can run again | hint: removes_other_hooks
# breaks: nor do hooks of others
# edits: legacy_hook
-    return module.register_backward_hook(hook)
+    module._backward_hooks.clear()
+    return module.register_full_backward_hook(hook)
@@

+    module._backward_pre_hooks.clear()
     return module.register_full_backward_pre_hook(hook)

# %% zeros_of_a_neighbour
# misconception: an output that is not used gets the zeros of the other one | hint: stop_none_replaced
# breaks: an entry that **is** `None` must stay `None`
def zeros_like_these(grads):
    return tuple(None if g is None else torch.zeros_like(g) for g in grads)


def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: zeros_like_these(grad_input))


def stop_from_here(module):
    def hook(module, grad_output):
        some = next(g for g in grad_output if g is not None)
        return tuple(torch.zeros_like(some if g is None else g) for g in grad_output)

    return module.register_full_backward_pre_hook(hook)

# %% tiny_factor
# misconception: takes the gradient times a very small number | hint: stop_nearly_zero
def zeros_like_these(grads):
    return tuple(None if g is None else g.nan_to_num(0, 0, 0) * 1e-30 for g in grads)


def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: zeros_like_these(grad_input))


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: zeros_like_these(grad_output))

# %% only_in_training
# misconception: stops in training mode only | hint: only_in_training
# breaks: and in any mode
def zeros_like_these(grads):
    return tuple(None if g is None else torch.zeros_like(g) for g in grads)


def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: zeros_like_these(grad_input) if module.training else None)


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: zeros_like_these(grad_output) if module.training else None)

# %% handle_that_clears
# misconception: a handle that takes off everybody's hooks | hint: removes_other_hooks
def zeros_like_these(grads):
    return tuple(None if g is None else torch.zeros_like(g) for g in grads)


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: zeros_like_these(grad_output))


class Handle:
    def __init__(self, module):
        self.module = module

    def remove(self):
        self.module._backward_hooks.clear()


def stop_in_front(module):
    module.register_full_backward_hook(lambda module, grad_input, grad_output: zeros_like_these(grad_input))
    return Handle(module)

# %% one_switch_for_all
# misconception: one switch for all modules, which any handle turns off | hint: handle_of_another
# breaks: Both return the handle
switch = {"on": True}


def zeros_like_these(grads):
    return tuple(None if g is None else torch.zeros_like(g) for g in grads) if switch["on"] else None


class Handle:
    def remove(self):
        switch["on"] = False


def stop_in_front(module):
    switch["on"] = True
    module.register_full_backward_hook(lambda module, grad_input, grad_output: zeros_like_these(grad_input))
    return Handle()


def stop_from_here(module):
    switch["on"] = True
    module.register_full_backward_pre_hook(lambda module, grad_output: zeros_like_these(grad_output))
    return Handle()

# %% gives_up_at_none
# misconception: returns None if one of the entries is None | hint: stop_gives_up_at_none
# breaks: an entry that **is** `None` must stay `None`
def stop_in_front(module):
    def hook(module, grad_input, grad_output):
        if any(g is None for g in grad_input):
            return None
        return tuple(torch.zeros_like(g) for g in grad_input)

    return module.register_full_backward_hook(hook)


def stop_from_here(module):
    return module.register_full_backward_pre_hook(
        lambda module, grad_output: tuple(None if g is None else torch.zeros_like(g) for g in grad_output)
    )

# %% handle_of_the_last_part
# misconception: a hook on each part, and the handle of the last one | hint: handle_of_another
# breaks: Both return the handle; once it is removed, everything learns as before.
def stop_in_front(module):
    return module.register_full_backward_hook(
        lambda module, grad_input, grad_output: tuple(None if g is None else torch.zeros_like(g) for g in grad_input)
    )


def stop_from_here(module):
    def hook(module, grad_output):
        return tuple(None if g is None else torch.zeros_like(g) for g in grad_output)

    for part in module.modules():
        handle = part.register_full_backward_pre_hook(hook)
    return handle

# %% one_pass_a_forward
# misconception: stops one pass for each forward | hint: runs_only_once
def _stop(module, register):
    waiting = []

    def zeros(module, grads, *_):
        if waiting:
            waiting.pop()
            return tuple(None if g is None else torch.zeros_like(g) for g in grads)

    module.register_forward_hook(lambda *_: waiting.append(True))
    return register(zeros)


def stop_in_front(module):
    return _stop(module, module.register_full_backward_hook)


def stop_from_here(module):
    return _stop(module, module.register_full_backward_pre_hook)

# %% not_with_create_graph
# misconception: leaves out passes that are recorded themselves | hint: create_graph_left_out
# breaks: Write zeros, tensors of zeros and not `None`, whatever the gradient was
# edits: one_helper
-    return tuple([grad if grad is None else grad.new_zeros(grad.shape) for grad in grads])
+    if not torch.is_grad_enabled():
+        return tuple(grad if grad is None else torch.zeros_like(grad) for grad in grads)

# %% sets_weight_grad_by_hand
# misconception: sets the parameters' .grad to zero in the full backward hook, early in a first layer | hint: stop_by_hand
# edits: zero_grad_in_the_hook
-        module.zero_grad()
+        for parameter in module.parameters():
+            parameter.grad = torch.zeros_like(parameter)
