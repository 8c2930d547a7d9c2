# misconception: asks the tuple for its norm | hint: grad_is_a_tuple
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = None if grad_input is None else grad_input.norm().item()
        sizes.append((before, grad_output.norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes
