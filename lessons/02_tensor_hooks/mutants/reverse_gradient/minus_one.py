# misconception: minus one for every gradient | hint: reverse_gradient_not_minus
def reverse_gradient(tensor):
    branch = tensor * 1
    if branch.requires_grad:
        branch.register_hook(lambda grad: -torch.ones_like(grad))
    return branch
