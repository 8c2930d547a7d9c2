# misconception: the handle's block ends before backward | hint: reverse_gradient_same_sign
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)
    if branch.requires_grad:
        with branch.register_hook(lambda grad: -grad):
            return branch
    return branch
