# nothing to break: Train only a part of a network, with one hook for each case
# nothing to break: All gradients are finite.

# %% bare_tensor
# misconception: returns a bare tensor | hint: full_hook_return
# edits: times_zero
-        return tuple(None if grad is None else grad * 0 for grad in grad_input)
+        return torch.zeros_like(grad_input[0])
@@
-        return tuple(grad * 0 for grad in grad_output)
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

# %% bare_tensor_before
# misconception: the pre-hook returns a bare tensor | hint: stop_pre_hook_return
# edits: times_zero
-        return tuple(None if grad is None else grad * 0 for grad in grad_input)
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)
@@
-        return tuple(grad * 0 for grad in grad_output)
+        return torch.zeros_like(grad_output[0])

# %% both_before
# misconception: both with a full backward pre-hook | hint: stop_too_early
# breaks: the module itself learns as before
# edits: bare_tensor
-    def hook(module, grad_input, grad_output):
-        return torch.zeros_like(grad_input[0])
-
-    return module.register_full_backward_hook(hook)
+    return stop_from_here(module)

# %% detaches_the_input
# misconception: detaches the module's inputs | hint: no_grad_is_not_zero
# edits: both_before
-    return stop_from_here(module)
+    return module.register_forward_pre_hook(lambda module, args: tuple(arg.detach() for arg in args))

# %% expects_tensors
# misconception: takes every entry for a tensor | hint: first_layer_none_as_tensor
# edits: times_zero
-        return tuple(None if grad is None else grad * 0 for grad in grad_input)
+        return tuple(torch.zeros_like(grad) for grad in grad_input)
@@
-        return tuple(grad * 0 for grad in grad_output)
+        return tuple(torch.zeros_like(grad) for grad in grad_output)

# %% first_entry_only
# misconception: zeroes the first entry and keeps the others | hint: stop_first_entry_only
# edits: times_zero
-        return tuple(None if grad is None else grad * 0 for grad in grad_input)
+        if grad_input[0] is not None:
+            return (torch.zeros_like(grad_input[0]), *grad_input[1:])
@@
-        return tuple(grad * 0 for grad in grad_output)
+        if grad_output[0] is not None:
+            return (torch.zeros_like(grad_output[0]), *grad_output[1:])

# %% one_output_tensor
# misconception: a tensor hook on the output, for modules with one output only | hint: stop_first_entry_only
# edits: times_zero
-    def hook(module, grad_output):
-        return tuple(grad * 0 for grad in grad_output)
+    def hook(module, args, output):
+        output.register_hook(torch.zeros_like)
@@
-    return module.register_full_backward_pre_hook(hook)
+    return module.register_forward_hook(hook)

# %% one_output_detached
# misconception: a detached output plus zero times the output, for modules with one output only | hint: stop_first_entry_only
# edits: one_output_tensor
-        output.register_hook(torch.zeros_like)
+        return output.detach() + 0 * output

# %% freezes_the_parameters
# misconception: freezes the parameters | hint: no_grad_is_not_zero
# edits: bare_tensor_before
-    def hook(module, grad_output):
-        return torch.zeros_like(grad_output[0])
-
-    return module.register_full_backward_pre_hook(hook)
+    module.requires_grad_(False)
+    return stop_in_front(module)

# %% generator
# misconception: returns a generator | hint: stop_generator
# edits: times_zero
-        return tuple(None if grad is None else grad * 0 for grad in grad_input)
+        return (torch.zeros_like(grad) for grad in grad_input)
@@
-        return tuple(grad * 0 for grad in grad_output)
+        return (torch.zeros_like(grad) for grad in grad_output)

# %% hooks_on_the_parameters
# misconception: tensor hooks on the parameters only | hint: stop_own_only
# edits: freezes_the_parameters
-    module.requires_grad_(False)
-    return stop_in_front(module)
+    for parameter in module.parameters():
+        handle = parameter.register_hook(torch.zeros_like)
+    return handle

# %% hook_on_the_input
# misconception: a tensor hook on the input, which other ways use as well | hint: stop_all_uses
# breaks: Gradients that bypass the module
# edits: times_zero
-    def hook(module, grad_input, grad_output):
-        return tuple(None if grad is None else grad * 0 for grad in grad_input)
+    def hook(module, args):
+        [x.register_hook(torch.zeros_like) for x in args if torch.is_tensor(x) and x.requires_grad]
 
-    return module.register_full_backward_hook(hook)
+    return module.register_forward_pre_hook(hook)

# %% in_place
# misconception: zeroes the gradients in place | hint: edits_in_place
# breaks: Gradients that bypass the module
# edits: times_zero
-        return tuple(None if grad is None else grad * 0 for grad in grad_input)
+        for grad in grad_input:
+            if grad is not None:
+                grad.zero_()
@@
-        return tuple(grad * 0 for grad in grad_output)
+        for grad in grad_output:
+            if grad is not None:
+                grad.zero_()

# %% no_handle
# misconception: returns no handle | hint: stop_no_handle
# breaks: Both return the handle
# edits: bare_tensor
-        return torch.zeros_like(grad_input[0])
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)
 
-    return module.register_full_backward_hook(hook)
+    module.register_full_backward_hook(hook)
@@
-    return module.register_full_backward_pre_hook(hook)
+    module.register_full_backward_pre_hook(hook)

# %% no_return
# misconception: makes zeros and does not return them | hint: stop_without_effect
# edits: times_zero
-        return tuple(None if grad is None else grad * 0 for grad in grad_input)
+        grad_input = tuple(torch.zeros_like(grad) for grad in grad_input)
@@
-        return tuple(grad * 0 for grad in grad_output)
+        grad_output = tuple(torch.zeros_like(grad) for grad in grad_output)

# %% none_for_zero
# misconception: returns None for each entry | hint: no_grad_is_not_zero
# edits: times_zero
-        return tuple(None if grad is None else grad * 0 for grad in grad_input)
+        return (None,) * len(grad_input)
@@
-        return tuple(grad * 0 for grad in grad_output)
+        return (None,) * len(grad_output)

# %% numbers
# misconception: returns the number 0 | hint: stop_number_for_tensor
def stop_in_front(module):
    return module.register_full_backward_hook(lambda module, grad_input, grad_output: (0.0,) * len(grad_input))


def stop_from_here(module):
    return module.register_full_backward_pre_hook(lambda module, grad_output: (0.0,) * len(grad_output))

# %% three_arguments_before
# misconception: a pre-hook of three arguments | hint: hook_arguments
# edits: bare_tensor_before
-    def hook(module, grad_output):
-        return torch.zeros_like(grad_output[0])
+    def hook(module, grad_input, grad_output):
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)

# %% full_hook_returns_grad_output
# misconception: a full backward hook that returns zeros for the output | hint: full_hook_return
# edits: three_arguments_before
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+        zeros = [torch.zeros_like(grad) for grad in grad_output]
+        return (*grad_input, *zeros)
@@
-    return module.register_full_backward_pre_hook(hook)
+    return module.register_full_backward_hook(hook)

# %% both_after
# misconception: both with a full backward hook | hint: stop_too_late | canary
# breaks: all of the module's own parameters get gradients of zero
# edits: full_hook_returns_grad_output
-        zeros = [torch.zeros_like(grad) for grad in grad_output]
-        return (*grad_input, *zeros)
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)

# %% swapped
# misconception: the two kinds of hooks in each other's place | hint: stop_too_early
# edits: both_after
 def stop_in_front(module):
-    def hook(module, grad_input, grad_output):
-        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)
+    def hook(module, grad_output):
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
 
-    return module.register_full_backward_hook(hook)
+    return module.register_full_backward_pre_hook(hook)

# %% zeroes_all_grads
# misconception: a full backward hook that also sets every .grad to zeros | hint: grad_not_there_yet
# edits: both_after
 def stop_from_here(module):
     def hook(module, grad_input, grad_output):
+        for parameter in module.parameters():
+            parameter.grad = torch.zeros_like(parameter)

# %% two_hooks_one_handle
# misconception: registers both kinds and returns one handle | hint: handle_of_another
# edits: hooks_on_the_parameters
-    for parameter in module.parameters():
-        handle = parameter.register_hook(torch.zeros_like)
+    def before(module, grad_output):
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_output)
+
+    handle = module.register_full_backward_pre_hook(before)
+    stop_in_front(module)

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
# edits: zeroes_all_grads
-        for parameter in module.parameters():
-            parameter.grad = torch.zeros_like(parameter)
+        if getattr(module, "weight", None) is not None and module.weight.grad is not None:
+            module.weight.grad.zero_()

# %% zeroes_the_output
# misconception: a forward hook that zeroes the output | hint: changes_the_value
# edits: one_output_tensor
-        return tuple(None if grad is None else grad * 0 for grad in grad_input)
+        return tuple(None if grad is None else torch.zeros_like(grad) for grad in grad_input)
@@
-        output.register_hook(torch.zeros_like)
+        if isinstance(output, tuple):
+            return tuple(one * 0 for one in output)
+        return output * 0

# %% tensor_method_on_the_module
# misconception: the tensor's register_hook on a module | hint: register_hook_on_module
def stop_in_front(module):
    return module.register_hook(lambda grad: torch.zeros_like(grad))


def stop_from_here(module):
    return module.register_hook(lambda grad: torch.zeros_like(grad))
