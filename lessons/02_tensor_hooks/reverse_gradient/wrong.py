# nothing to break: You may assume that nobody changes this tensor in place.

# %% absolute
# misconception: minus the absolute value | hint: reverse_gradient_not_minus
# breaks: send their gradient back to `tensor` with the opposite sign
def reverse_gradient(tensor):
    branch = tensor * 1
    if branch.requires_grad:
        branch.register_hook(lambda grad: -grad.abs())
    return branch

# %% detached
# misconception: hooks a detached tensor that learns on its own | hint: gradient_cut_here
def reverse_gradient(tensor):
    branch = tensor.detach().requires_grad_()
    branch.register_hook(lambda grad: -grad)
    return branch

# %% guards_the_wrong_tensor
# misconception: asks the given tensor, which still needs a gradient under no_grad | hint: reverse_gradient_in_evaluation
def reverse_gradient(tensor):
    branch = tensor.clone()
    if tensor.requires_grad:
        branch.register_hook(lambda grad: -grad)
    return branch

# %% hooks_the_tensor
# misconception: a hook on the given tensor: all its uses are reversed | hint: reverse_gradient_all_uses
# breaks: Other uses of `tensor` send back unchanged gradients.
def reverse_gradient(tensor):
    if tensor.requires_grad:
        tensor.register_hook(lambda grad: -grad)
    return tensor

# %% in_place
# misconception: edits the gradient in place | hint: edits_in_place
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(lambda grad: grad.neg_())
    return branch

# %% minus_the_value
# misconception: returns minus the values | hint: changes_the_value
# breaks: which returns a tensor with the same values
def reverse_gradient(tensor):
    return -tensor

# %% no_return_in_hook
# misconception: the hook computes and returns nothing | hint: reverse_gradient_same_sign | canary
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)

    def hook(grad):
        grad = -grad

    if branch.requires_grad:
        branch.register_hook(hook)
    return branch

# %% returns_nothing
# misconception: makes the branch and does not return it | hint: returns_nothing
# breaks: Write `reverse_gradient(tensor)`
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(torch.neg)

# %% returns_in_training
# misconception: returns the branch only if a gradient will come | hint: returns_nothing
# edits: returns_nothing
+        return branch

# %% returns_the_handle
# misconception: returns what register_hook returns | hint: reverse_gradient_handle
def reverse_gradient(tensor):
    return tensor.view_as(tensor).register_hook(lambda grad: -grad)

# %% returns_the_tensor
# misconception: hooks a new tensor and returns the old one | hint: reverse_gradient_same_sign
# edits: returns_nothing
-        branch.register_hook(torch.neg)
+        branch.register_hook(lambda grad: -grad)
+    return tensor

# %% two_arguments
# misconception: a module hook's arguments | hint: hook_arguments
# edits: no_return_in_hook
-    def hook(grad):
-        grad = -grad
+    def hook(tensor, grad):
+        return -grad

# %% unguarded
# misconception: hooks whatever it gets | hint: reverse_gradient_in_evaluation
# breaks: Under `no_grad`, and for a tensor that needs no gradient, the function just returns the values.
# edits: detached
-    branch = tensor.detach().requires_grad_()
+    branch = tensor.view_as(tensor)

# %% made_to_need_one
# misconception: lets a tensor that needs no gradient need one | hint: reverse_gradient_in_evaluation
# edits: unguarded
-    branch = tensor.view_as(tensor)
+    branch = tensor.clone()
+    if not branch.requires_grad:
+        branch.requires_grad_()

# %% with_block
# misconception: the handle's block ends before backward | hint: reverse_gradient_same_sign
# edits: in_place
-        branch.register_hook(lambda grad: grad.neg_())
+        with branch.register_hook(lambda grad: -grad):
+            return branch

# %% zero
# misconception: stops the gradient | hint: reverse_gradient_not_minus
# edits: absolute
-        branch.register_hook(lambda grad: -grad.abs())
+        branch.register_hook(lambda grad: grad * 0)
