# misconception: minus the absolute value | hint: reverse_gradient_not_minus
def reverse_gradient(tensor):
    branch = tensor * 1
    if branch.requires_grad:
        branch.register_hook(lambda grad: -grad.abs())
    return branch
