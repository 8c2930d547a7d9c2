# misconception: computes the gradient of a Linear's input | hint: first_layer_formula
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = None
        if grad_input[0] is not None:
            before = (grad_output[0] @ module.weight).norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes
