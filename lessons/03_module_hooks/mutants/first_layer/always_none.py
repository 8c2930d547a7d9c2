# misconception: writes None whatever the input needs | hint: first_layer_always_none
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append((None, grad_output[0].norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes
