# nothing to break: You may assume finite gradients.

# %% bias_no_return
# misconception: the hook returns nothing | hint: hook_returns_nothing
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: None)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% bias_once
# misconception: the hook removes itself after the first pass | hint: runs_only_once
# breaks: after it, each `backward()`
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    def hook(grad):
+        handle.remove()
+        return grad * 0
+
+    handle = net.fc.bias.register_hook(hook)

# %% bias_too_early
# misconception: writes .grad before backward | hint: no_hook_on_it
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    if net.fc.bias.grad is not None:
+        net.fc.bias.grad.zero_()

# %% clamp_absolute
# misconception: absolute value | hint: makes_it_positive
# breaks: sets the negative elements of the gradient of `tensor` to 0
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.register_hook(torch.abs)

# %% clamp_behind
# misconception: a hook on grad_fn: after the operation | hint: clamps_behind_the_operation
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    def hook(grad_inputs, grad_outputs):
+        return tuple(grad if grad is None else grad.clamp(min=0) for grad in grad_inputs)
+
+    tensor.grad_fn.register_hook(hook)

# %% clamp_detached
# misconception: hooks a detached tensor | hint: no_gradient_needed
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.detach().register_hook(lambda grad: grad.clamp(min=0))

# %% clamp_dot_grad
# misconception: a post-accumulate hook | hint: post_accumulate_on_non_leaf
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.register_post_accumulate_grad_hook(lambda t: t.grad.clamp_(min=0))

# %% clamp_earlier_parameters
# misconception: hooks what is earlier, by hand | hint: clamps_too_late
# breaks: Gradients of earlier tensors change accordingly
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    node = tensor.grad_fn.next_functions[0][0]
+    for leaf, _ in node.next_functions:
+        if leaf is not None:
+            leaf.variable.register_hook(lambda grad: grad.clamp(min=0))

# %% clamp_max
# misconception: max for min | hint: wrong_sign
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.register_hook(lambda grad: grad.clamp(max=0))

# %% clamp_no_return
# misconception: the hook returns nothing | hint: hook_without_effect
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    def hook(grad):
+        grad = grad.clamp(min=0)
+
+    tensor.register_hook(hook)

# %% clamp_value
# misconception: changes the value | hint: changes_the_value
# breaks: everything else stays
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.data.clamp_(max=0.5)

# %% conv_bias
# misconception: the bias of conv | hint: wrong_tensor
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.conv.bias.register_hook(torch.zeros_like)

# %% every_bias
# misconception: every bias | hint: hooks_too_much
# breaks: Everything else stays as it is.
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    for name, parameter in net.named_parameters():
+        if "bias" in name:
+            parameter.register_hook(torch.zeros_like)

# %% fc_output
# misconception: the gradient of the output of fc | hint: hooks_too_much
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    def hook(module, args, output):
+        output.register_hook(torch.zeros_like)
+
+    net.fc.register_forward_hook(hook)

# %% five_zeros
# misconception: hard-coded five zeros | hint: hook_changes_shape
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.bias.register_hook(lambda grad: torch.zeros(5))

# %% grad_to_none
# misconception: sets .grad to None | hint: no_grad_is_not_zero
# breaks: each `backward()` makes this `.grad` a tensor of zeros
# edits: post_accumulate_and_mask
-        parameter.grad = torch.zeros_like(parameter)
+        parameter.grad = None
@@
-    tensor.register_hook(lambda grad: grad * (grad > 0))
+    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% requires_no_grad
# misconception: switches the gradient off | hint: no_grad_is_not_zero
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.bias.requires_grad_(False)

# %% zeroes_the_value
# misconception: sets the bias itself to 0 | hint: changes_parameters
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.bias.data.zero_()

# %% both_return_nothing
# misconception: neither hook returns anything | hint: hook_returns_nothing | canary
# edits: bias_no_return
-    tensor.register_hook(lambda grad: grad.clamp(min=0))
+    tensor.register_hook(lambda grad: None)

# %% clamp_in_place
# misconception: clamps the gradient where it lies, in memory that another branch may share | hint: clamps_in_place
# breaks: everything else stays
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.register_hook(lambda grad: grad.clamp_(min=0))
