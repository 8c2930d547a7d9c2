# misconception: adds nothing where there is no gradient | hint: first_layer_leaves_out
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        if grad_input[0] is not None:
            sizes.append((grad_input[0].norm().item(), grad_output[0].norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes
