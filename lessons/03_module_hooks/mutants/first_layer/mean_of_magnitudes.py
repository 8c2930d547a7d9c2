# misconception: the mean absolute value | hint: first_layer_other_size
def gradient_sizes(layer):
    sizes = []

    def size(grad):
        return None if grad is None else grad.abs().mean().item()

    layer.register_full_backward_hook(
        lambda module, grad_input, grad_output: sizes.append((size(grad_input[0]), size(grad_output[0])))
    )
    return sizes
