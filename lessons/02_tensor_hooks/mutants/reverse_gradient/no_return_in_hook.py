# misconception: the hook computes and returns nothing | hint: reverse_gradient_same_sign
def reverse_gradient(tensor):
    branch = tensor.view_as(tensor)

    def hook(grad):
        grad = -grad

    if branch.requires_grad:
        branch.register_hook(hook)
    return branch
