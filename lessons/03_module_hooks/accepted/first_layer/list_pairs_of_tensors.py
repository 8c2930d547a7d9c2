def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = grad_input[0].norm() if grad_input[0] is not None else None
        sizes.append([before, grad_output[0].norm()])

    layer.register_full_backward_hook(hook)
    return sizes
