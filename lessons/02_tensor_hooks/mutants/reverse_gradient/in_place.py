# misconception: edits the gradient in place | hint: edits_in_place
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        branch.register_hook(lambda grad: grad.neg_())
    return branch
