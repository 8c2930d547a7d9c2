def reverse_gradient(tensor):
    new = tensor.clone()
    if new.requires_grad:
        new.register_hook(lambda grad: -grad)
    return new
