# misconception: keeps the last pass only | hint: keeps_last_only
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes[:] = [(before, grad_output[0].norm().item())]

    layer.register_full_backward_hook(hook)
    return sizes
