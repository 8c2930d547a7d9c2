# misconception: registers the deprecated hook | hint: legacy_hook
def gradient_sizes(layer):
    sizes = []

    def size(grad):
        return None if grad is None else grad.norm().item()

    layer.register_backward_hook(
        lambda module, grad_input, grad_output: sizes.append((size(grad_input[0]), size(grad_output[0])))
    )
    return sizes
