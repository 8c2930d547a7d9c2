# misconception: asks None for its norm | hint: first_layer_none_as_tensor
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append((grad_input[0].norm().item(), grad_output[0].norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes
