def append_sizes(sizes, module, grad_input, grad_output):
    (before,), (after,) = grad_input, grad_output
    sizes.append((before.norm().item() if isinstance(before, torch.Tensor) else None, after.norm().item()))


def gradient_sizes(layer):
    sizes = []
    layer.register_full_backward_hook(partial(append_sizes, sizes))
    return sizes
