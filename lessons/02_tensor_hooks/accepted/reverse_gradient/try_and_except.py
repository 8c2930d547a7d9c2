def reverse_gradient(tensor):
    branch = tensor + 0
    try:
        branch.register_hook(lambda grad: torch.mul(grad, -1))
    except RuntimeError:
        pass
    return branch
