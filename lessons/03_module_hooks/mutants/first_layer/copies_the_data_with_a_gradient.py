# misconception: replaces the data by a copy that requires a gradient | hint: first_layer_asks_for_more
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        sizes.append((grad_input[0].norm().item(), grad_output[0].norm().item()))

    layer.register_forward_pre_hook(lambda module, args: args[0].clone().requires_grad_())
    layer.register_full_backward_hook(hook)
    return sizes
