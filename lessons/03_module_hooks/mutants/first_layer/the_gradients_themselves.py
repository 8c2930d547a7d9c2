# misconception: stores the gradients | hint: first_layer_gradient_for_size
def gradient_sizes(layer):
    sizes = []
    layer.register_full_backward_hook(
        lambda module, grad_input, grad_output: sizes.append((grad_input[0], grad_output[0]))
    )
    return sizes
