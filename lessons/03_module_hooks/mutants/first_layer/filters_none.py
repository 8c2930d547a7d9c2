# misconception: leaves None out of the pair | hint: first_layer_leaves_out
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append(tuple(g.norm().item() for g in (*grad_input, *grad_output) if g is not None))

    layer.register_full_backward_hook(hook)
    return sizes
