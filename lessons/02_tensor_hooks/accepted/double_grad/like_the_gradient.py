def func(grad):
    with torch.no_grad():
        return grad * torch.full_like(grad, 2)
