# misconception: extends the list by two numbers | hint: takes_elements_apart
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.extend(None if grad is None else grad.norm().item() for grad in (*grad_input, *grad_output))

    layer.register_full_backward_hook(hook)
    return sizes
