def gradient_sizes(layer):
    sizes, arrived = [], []

    def before(module, grad_output):
        arrived.append(grad_output[0].norm().item())

    def after(module, grad_input, grad_output):
        sizes.append((None if grad_input[0] is None else grad_input[0].norm().item(), arrived.pop()))

    layer.register_full_backward_pre_hook(before)
    layer.register_full_backward_hook(after)
    return sizes
