# nothing to break: Nobody changes the returned tensor in place.

# %% absolute
# misconception: minus the absolute value | hint: reverse_gradient_not_minus
# breaks: sends its gradient back to `tensor` with the opposite sign
def reverse_gradient(tensor):
    branch = tensor * 1
    if branch.requires_grad:
        branch.register_hook(lambda grad: -grad.abs())
    return branch

# %% back_and_forth
# misconception: a hook on the branch and one on the tensor: the sign turns twice | hint: reverse_gradient_same_sign
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(torch.neg)
        tensor.register_hook(torch.neg)
    return branch

# %% detached
# misconception: hooks a detached tensor that learns on its own | hint: gradient_cut_here
def reverse_gradient(tensor):
    branch = tensor.detach().requires_grad_()
    branch.register_hook(lambda grad: -grad)
    return branch

# %% dot_grad
# misconception: edits .grad inside the hook | hint: reads_grad_early
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.retain_grad()
        branch.register_hook(lambda grad: branch.grad.neg())
    return branch

# %% forces_a_gradient
# misconception: makes every branch need a gradient | hint: reverse_gradient_in_evaluation
# breaks: The result of a tensor that needs no gradient needs none either.
def reverse_gradient(tensor):
    with torch.enable_grad():
        branch = tensor.view_as(tensor)
        if not branch.requires_grad:
            branch.requires_grad_()
        branch.register_hook(lambda grad: -grad)
    return branch

# %% function_without_minus
# misconception: a Function that hands the gradient through | hint: reverse_gradient_same_sign
# edits: custom_function
-        return grad_output.neg()
+        return grad_output

# %% guards_the_wrong_tensor
# misconception: asks the given tensor, which still needs a gradient under no_grad | hint: reverse_gradient_in_evaluation
def reverse_gradient(tensor):
    branch = tensor.clone()
    if tensor.requires_grad:
        branch.register_hook(lambda grad: -grad)
    return branch

# %% hooks_the_tensor
# misconception: a hook on the given tensor: all its uses are reversed | hint: reverse_gradient_all_uses
# breaks: other uses of `tensor` send back what they always did
def reverse_gradient(tensor):
    if tensor.requires_grad:
        tensor.register_hook(lambda grad: -grad)
    return tensor

# %% hooks_the_tensor_returns_a_view
# misconception: a new tensor for the branch, but the hook on the old one | hint: reverse_gradient_all_uses
# edits: back_and_forth
-        branch.register_hook(torch.neg)

# %% in_float32
# misconception: computes in float32 | hint: changes_the_value
def reverse_gradient(tensor):
    branch = tensor.float() * 1
    if branch.requires_grad:
        branch.register_hook(lambda grad: -grad)
    return branch

# %% in_place
# misconception: edits the gradient in place | hint: edits_in_place
# breaks: All the rest is as if the function
# edits: hooks_the_tensor_returns_a_view
-        tensor.register_hook(torch.neg)
+        branch.register_hook(lambda grad: grad.neg_())

# %% in_place_in_function
# misconception: a Function that edits the gradient in place | hint: edits_in_place
# edits: custom_function
-        return x.view_as(x)
+        return x.clone()
@@
-        return grad_output.neg()
+        return grad_output.mul_(-1)

# %% last_branch_only
# misconception: removes the hook of the branch before | hint: earlier_call_forgotten
handles = []


def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        while handles:
            handles.pop().remove()
        handles.append(branch.register_hook(torch.neg))
    return branch

# %% minus_and_hook
# misconception: turns the value and, by a hook, the gradient | hint: changes_the_value
# breaks: everything later, which is computed from the returned tensor, gets the same gradients as ever
# edits: in_float32
-    branch = tensor.float() * 1
+    branch = -tensor

# %% minus_detached
# misconception: minus the values, written into a copy | hint: changes_the_value
def reverse_gradient(tensor):
    branch = tensor.clone()
    branch.data.neg_()
    return branch

# %% minus_one
# misconception: minus one for every gradient | hint: reverse_gradient_not_minus
# edits: absolute
-        branch.register_hook(lambda grad: -grad.abs())
+        branch.register_hook(lambda grad: -torch.ones_like(grad))

# %% minus_the_value
# misconception: returns minus the values | hint: changes_the_value
# breaks: It returns a tensor with the same values.
def reverse_gradient(tensor):
    return -tensor

# %% no_return_in_hook
# misconception: the hook computes and returns nothing | hint: reverse_gradient_same_sign
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)

    def hook(grad):
        grad = -grad

    if branch.requires_grad:
        branch.register_hook(hook)
    return branch

# %% once_only
# misconception: the hook removes itself after one pass | hint: runs_only_once
# breaks: in each backward pass
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)

    def flip(grad):
        handle.remove()
        return -grad

    if branch.requires_grad:
        handle = branch.register_hook(flip)
    return branch

# %% one_over
# misconception: the reciprocal for the opposite | hint: reverse_gradient_not_minus
# edits: absolute
-        branch.register_hook(lambda grad: -grad.abs())
+        branch.register_hook(lambda grad: 1 / grad)

# %% only_a_view
# misconception: a new tensor without a hook | hint: reverse_gradient_same_sign
def reverse_gradient(tensor):
    return tensor.view_as(tensor)

# %% returns_nothing
# misconception: makes the branch and does not return it | hint: returns_nothing
# breaks: Write `reverse_gradient(tensor)`.
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(torch.neg)

# %% returns_the_handle
# misconception: returns what register_hook returns | hint: reverse_gradient_handle
def reverse_gradient(tensor):
    return tensor.view_as(tensor).register_hook(lambda grad: -grad)

# %% returns_the_tensor
# misconception: hooks a new tensor and returns the old one | hint: reverse_gradient_same_sign
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(lambda grad: -grad)
    return tensor

# %% scalar_trick
# misconception: the scalar trick the wrong way round | hint: changes_the_value
def reverse_gradient(tensor):
    return tensor.detach() - 2 * tensor

# %% two_arguments
# misconception: a module hook's arguments | hint: hook_arguments
# edits: no_return_in_hook
-    def hook(grad):
-        grad = -grad
+    def hook(tensor, grad):
+        return -grad

# %% unguarded
# misconception: hooks whatever it gets | hint: reverse_gradient_in_evaluation
# breaks: under `no_grad`, and for a tensor that needs no gradient, the function just returns the values
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    branch.register_hook(lambda grad: -grad)
    return branch

# %% with_block
# misconception: the handle's block ends before backward | hint: reverse_gradient_same_sign
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        with branch.register_hook(lambda grad: -grad):
            return branch
    return branch

# %% zero
# misconception: stops the gradient | hint: reverse_gradient_not_minus
# edits: absolute
-        branch.register_hook(lambda grad: -grad.abs())
+        branch.register_hook(lambda grad: grad * 0)

# %% viewed_flat
# misconception: takes every tensor for contiguous | hint: hook_views_flat
def reverse_gradient(tensor):
    branch = tensor.view(-1).view(tensor.shape)
    if branch.requires_grad:
        branch.register_hook(torch.neg)
    return branch

# %% times_one_point_zero
# misconception: makes whole numbers floats | hint: changes_the_value
# edits: viewed_flat
-    branch = tensor.view(-1).view(tensor.shape)
+    branch = tensor * 1.0

# %% hooks_a_leaf_itself
# misconception: a leaf gets the hook itself, and all its uses are reversed | hint: reverse_gradient_all_uses
# breaks: and be a leaf or a tensor in the middle
def reverse_gradient(tensor):
    if not tensor.requires_grad or not torch.is_grad_enabled():
        return tensor
    branch = tensor if tensor.is_leaf else tensor.clone()
    branch.register_hook(lambda grad: -grad)
    return branch

# %% sliced
# misconception: a slice for a new tensor, which a tensor without dimensions has not | hint: no_dimensions
# breaks: `tensor` may have any shape
# edits: in_float32
-    branch = tensor.float() * 1
+    branch = tensor[:]

# %% retains_too
# misconception: keeps the gradient of the tensor in .grad as well, to look at | hint: uses_retain_grad
# breaks: All the rest is as if the function were not there
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        if not tensor.is_leaf:
            tensor.retain_grad()
        branch.register_hook(torch.neg)
    return branch

# %% nan_to_zero
# misconception: makes NaN a number, to be on the safe side | hint: repairs_the_gradient
# breaks: Its values are of ordinary size, but its gradient need not be finite.
# edits: hooks_the_tensor_returns_a_view
-        tensor.register_hook(torch.neg)
+        branch.register_hook(lambda grad: -torch.nan_to_num(grad))

# %% leaf_left_out
# misconception: hands a leaf back as it is | hint: reverse_gradient_same_sign
# breaks: and be a leaf or a tensor in the middle
def reverse_gradient(tensor):
    if tensor.is_leaf:
        return tensor
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(lambda grad: -grad)
    return branch
