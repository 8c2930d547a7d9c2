# misconception: returns the handle instead of the list | hint: returns_no_list
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    return layer.register_full_backward_hook(hook)
