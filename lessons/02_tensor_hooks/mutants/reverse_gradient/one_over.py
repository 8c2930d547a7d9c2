# misconception: the reciprocal for the opposite | hint: reverse_gradient_not_minus
def reverse_gradient(tensor):
    branch = tensor * 1
    if branch.requires_grad:
        branch.register_hook(lambda grad: 1 / grad)
    return branch
