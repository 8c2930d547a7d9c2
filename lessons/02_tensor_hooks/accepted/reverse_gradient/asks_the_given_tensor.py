def reverse_gradient(tensor: torch.Tensor) -> torch.Tensor:
    branch = tensor.view_as(tensor)
    if tensor.requires_grad:
        branch.register_hook(torch.neg)
    return branch
