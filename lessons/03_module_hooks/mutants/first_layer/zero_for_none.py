# misconception: writes 0 where there is no gradient | hint: first_layer_zero_for_none
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = 0.0 if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes
