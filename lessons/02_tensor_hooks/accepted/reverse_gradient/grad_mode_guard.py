def reverse_gradient(tensor):
    if not (torch.is_grad_enabled() and tensor.requires_grad):
        return tensor
    branch = tensor * 1

    def flip(grad):
        return grad * -1

    branch.register_hook(flip)
    return branch
