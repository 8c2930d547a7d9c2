# misconception: switches the gradient of the data on | hint: first_layer_asks_for_more
def gradient_sizes(layer):
    sizes = []

    def ask(module, args):
        if args[0].is_leaf and args[0].is_floating_point():
            args[0].requires_grad_()

    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    layer.register_forward_pre_hook(ask)
    layer.register_full_backward_hook(hook)
    return sizes
