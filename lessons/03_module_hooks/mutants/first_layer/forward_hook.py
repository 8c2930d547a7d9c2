# misconception: registers a forward hook, which gets values | hint: forward_instead_of_backward
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append((grad_input[0].norm().item(), grad_output.norm().item()))

    layer.register_forward_hook(hook)
    return sizes
