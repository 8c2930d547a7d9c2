# misconception: takes a missing weight.grad for a sign that the layer is the first | hint: first_layer_from_weight
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        parameters = list(module.parameters())
        if parameters and parameters[0].grad is None:
            before = None
        else:
            before = 0.0 if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    layer.register_full_backward_hook(hook)
    return sizes
