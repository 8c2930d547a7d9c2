# nothing to break: What the two functions return does not matter.
# nothing to break: All gradients are finite.
# nothing to break: A new tensor is better, but a hook that edits the gradient in place is accepted here.

# %% all_of_fc
# misconception: every parameter of fc | hint: hooks_too_much
def freeze_bias(net):
    for parameter in net.fc.parameters():
        parameter.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% bias_last_net
# misconception: removes the hook of the net before | hint: earlier_call_forgotten
handles = []


def freeze_bias(net):
    while handles:
        handles.pop().remove()
    handles.append(net.fc.bias.register_hook(torch.zeros_like))


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% bias_no_return
# misconception: the hook returns nothing | hint: hook_returns_nothing
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: None)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% bias_number
# misconception: returns the number 0 | hint: hook_returns_no_tensor
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.bias.register_hook(lambda grad: 0)

# %% bias_once
# misconception: the hook removes itself after the first pass | hint: runs_only_once
# breaks: from then on each backward pass makes the gradient of `net.fc.bias`
def freeze_bias(net):
    def hook(grad):
        handle.remove()
        return grad * 0

    handle = net.fc.bias.register_hook(hook)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% bias_scalar
# misconception: returns a scalar tensor | hint: hook_changes_shape
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.bias.register_hook(lambda grad: torch.tensor(0.0))

# %% bias_smaller
# misconception: a smaller gradient | hint: not_quite_zero
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.bias.register_hook(lambda grad: grad * 1e-3)

# %% bias_too_early
# misconception: writes .grad before backward | hint: no_hook_on_it
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    if net.fc.bias.grad is not None:
+        net.fc.bias.grad.zero_()

# %% clamp_absolute
# misconception: absolute value | hint: makes_it_positive
# breaks: Negative elements become 0, the others stay.
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    tensor.register_hook(torch.abs)

# %% clamp_after_retain
# misconception: retain_grad, then edits .grad | hint: reads_grad_early
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.retain_grad()
+    tensor.register_hook(lambda grad: tensor.grad.clamp_(min=0))

# %% clamp_all_or_nothing
# misconception: drops everything | hint: all_or_nothing
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    def hook(grad):
        if (grad < 0).any():
            return torch.zeros_like(grad)
        return grad

    tensor.register_hook(hook)

# %% clamp_all_outputs
# misconception: a pre-hook of the operation that clamps the gradients of all its outputs | hint: hooks_the_operation
# breaks: everything else stays
def freeze_bias(net):
    net.fc.bias.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    def hook(grad_outputs):
        return tuple(grad if grad is None else grad.clamp(min=0) for grad in grad_outputs)

    tensor.grad_fn.register_prehook(hook)

# %% clamp_behind
# misconception: a hook on grad_fn: after the operation | hint: clamps_behind_the_operation
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    def hook(grad_inputs, grad_outputs):
        return tuple(grad if grad is None else grad.clamp(min=0) for grad in grad_inputs)

    tensor.grad_fn.register_hook(hook)

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
# breaks: Everything earlier than `tensor` follows
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    node = tensor.grad_fn.next_functions[0][0]
    for leaf, _ in node.next_functions:
        if leaf is not None:
            leaf.variable.register_hook(lambda grad: grad.clamp(min=0))

# %% clamp_fixed_shape
# misconception: a fixed shape | hint: shapes_do_not_fit
# breaks: `tensor` is any tensor in the middle of a graph, of any shape.
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.register_hook(lambda grad: torch.maximum(grad, torch.zeros(1, 10, 4, 4)))

# %% clamp_if_negative
# misconception: asks a tensor a yes-or-no question | hint: truth_of_tensor
# edits: clamp_all_or_nothing
-        if (grad < 0).any():
-            return torch.zeros_like(grad)
+        if grad < 0:
+            return grad * 0

# %% clamp_last_tensor
# misconception: removes the hook of the tensor before | hint: earlier_call_forgotten
handles = []


def freeze_bias(net):
    net.fc.bias.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    while handles:
        handles.pop().remove()
    handles.append(tensor.register_hook(lambda grad: grad.clamp(min=0)))

# %% clamp_leaky
# misconception: makes negative elements small | hint: clamps_otherwise
def freeze_bias(net):
    net.fc.bias.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(F.leaky_relu)

# %% clamp_mask_only
# misconception: returns the mask as bool | hint: hook_changes_shape
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.register_hook(lambda grad: grad > 0)

# %% clamp_max
# misconception: max for min | hint: wrong_sign
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.register_hook(lambda grad: grad.clamp(max=0))

# %% clamp_new_tensor
# misconception: hooks a new tensor | hint: no_hook_on_it
def freeze_bias(net):
    net.fc.bias.register_hook(lambda grad: torch.zeros_like(grad))


def clamp_downstream(tensor):
    new = tensor.view_as(tensor)
    new.register_hook(lambda grad: grad.clamp(min=0))
    return new

# %% clamp_no_return
# misconception: the hook returns nothing | hint: hook_without_effect
# breaks: is never negative
# edits: clamp_all_or_nothing
-        if (grad < 0).any():
-            return torch.zeros_like(grad)
-        return grad
+        grad = grad.clamp(min=0)

# %% clamp_once
# misconception: clamps in the first pass only | hint: runs_only_once
# breaks: in each backward pass, the gradient that flows back through `tensor`
def freeze_bias(net):
    net.fc.bias.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    def hook(grad):
        handle.remove()
        return grad.clamp(min=0)

    handle = tensor.register_hook(hook)

# %% clamp_value
# misconception: changes the value | hint: changes_the_value
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.data.clamp_(max=0.5)

# %% clamp_zero_one
# misconception: from 0 to 1 | hint: clamps_both_ends
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.register_hook(lambda grad: grad.clamp(0, 1))

# %% conv_bias
# misconception: the bias of conv | hint: wrong_tensor
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.conv.bias.register_hook(torch.zeros_like)

# %% every_bias
# misconception: every bias | hint: hooks_too_much
# breaks: All other gradients stay as they are
def freeze_bias(net):
    for name, parameter in net.named_parameters():
        if "bias" in name:
            parameter.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% fc_output
# misconception: the gradient of the output of fc | hint: hooks_too_much
def freeze_bias(net):
    def hook(module, args, output):
        output.register_hook(torch.zeros_like)

    net.fc.register_forward_hook(hook)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% fc_weight
# misconception: the weight of fc | hint: wrong_tensor
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.weight.register_hook(torch.zeros_like)

# %% five_zeros
# misconception: hard-coded five zeros | hint: hook_changes_shape
# breaks: perhaps with an `fc` of another size
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.bias.register_hook(lambda grad: torch.zeros(5))

# %% full_hook
# misconception: a full backward hook that zeroes grad_input | hint: hooks_too_much
def freeze_bias(net):
    def hook(module, grad_input, grad_output):
        return tuple(torch.zeros_like(grad) for grad in grad_input)

    net.fc.register_full_backward_hook(hook)
    net.fc.bias.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% global_net
# misconception: hooks the net of the notebook | hint: no_hook_on_it
net = TestNet()


def freeze_bias(_):
    net.fc.bias.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% grad_to_none
# misconception: sets .grad to None | hint: no_grad_is_not_zero
# breaks: a tensor of zeros
def freeze_bias(net):
    def hook(parameter):
        parameter.grad = None

    net.fc.bias.register_post_accumulate_grad_hook(hook)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% mask_by_value
# misconception: masks by the sign of the value | hint: hook_without_effect
# edits: clamp_absolute
-    tensor.register_hook(torch.abs)
+    tensor.register_hook(lambda grad: grad * (tensor > 0))

# %% new_bias
# misconception: hooks a new parameter, which it puts into the place of the old one | hint: new_bias
# breaks: all parameters: the same objects with the same values
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.bias = Parameter(net.fc.bias.detach().clone())
+    net.fc.bias.register_hook(torch.zeros_like)

# %% requires_no_grad
# misconception: switches the gradient off | hint: no_grad_is_not_zero
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.bias.requires_grad_(False)

# %% zeroes_the_value
# misconception: sets the bias itself to 0 | hint: changes_parameters
# breaks: so do all parameters
# edits: bias_no_return
-    net.fc.bias.register_hook(lambda grad: None)
+    net.fc.bias.data.zero_()

# %% clamp_with_one_zero
# misconception: compares with a vector of one zero, which gives a gradient without dimensions one | hint: hook_changes_shape
# breaks: of any shape.
# edits: clamp_leaky
-    tensor.register_hook(F.leaky_relu)
+    tensor.register_hook(lambda grad: torch.maximum(grad, torch.zeros(1, dtype=grad.dtype)))

# %% every_parameter_of_that_shape
# misconception: tells the bias by its shape, which may be that of the other bias as well | hint: hooks_too_much
# breaks: All other gradients stay as they are
# breaks: `net` is a `TestNet`, perhaps with an `fc` of another size.
def freeze_bias(net):
    for parameter in net.parameters():
        if parameter.shape == net.fc.bias.shape:
            parameter.register_hook(torch.zeros_like)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% frozen_with_zeros_put_there
# misconception: freezes the bias and puts zeros into .grad, which zero_grad() takes away | hint: no_grad_is_not_zero
# breaks: from then on each backward pass makes the gradient of `net.fc.bias` a tensor of zeros
# edits: requires_no_grad
     net.fc.bias.requires_grad_(False)
+    net.fc.bias.grad = torch.zeros_like(net.fc.bias)

# %% clamp_and_retain
# misconception: keeps the gradient in .grad as well, to look at | hint: uses_retain_grad
# breaks: everything else stays
# edits: clamp_leaky
-    tensor.register_hook(F.leaky_relu)
+    tensor.retain_grad()
+    tensor.register_hook(lambda grad: grad.clamp(min=0))

# %% capped_at_ten_thousand
# misconception: a limit at the other end, far away | hint: clamps_otherwise
# breaks: the others stay
# edits: clamp_leaky
-    tensor.register_hook(F.leaky_relu)
+    tensor.register_hook(lambda grad: F.hardtanh(grad, 0.0, 1e4))

# %% tiny_is_zero
# misconception: takes tiny elements for zero | hint: clamps_otherwise
# breaks: Negative elements become 0, the others stay
# edits: capped_at_ten_thousand
-    tensor.register_hook(lambda grad: F.hardtanh(grad, 0.0, 1e4))
+    tensor.register_hook(lambda grad: torch.where(grad > 1e-6, grad, 0.0))

# %% starts_afresh
# misconception: empties all gradients, to begin afresh | hint: empties_grad
# breaks: All other gradients stay as they are
# edits: new_bias
-    net.fc.bias = Parameter(net.fc.bias.detach().clone())
+    net.zero_grad()

# %% zeros_into_grad
# misconception: the hook writes zeros into .grad, to which the gradient is added | hint: hook_writes_grad
# breaks: each backward pass makes the gradient of `net.fc.bias` a tensor of zeros
def freeze_bias(net):
    def hook(grad):
        net.fc.bias.grad = torch.zeros_like(grad)

    net.fc.bias.register_hook(hook)


def clamp_downstream(tensor):
    tensor.register_hook(lambda grad: grad.clamp(min=0))
