# misconception: remembers the input and reads its .grad | hint: first_layer_always_none
def gradient_sizes(layer):
    sizes, inputs = [], []

    def remember(module, args):
        inputs.append(args[0])

    def hook(module, grad_input, grad_output):
        grad = inputs[-1].grad
        sizes.append((None if grad is None else grad.norm().item(), grad_output[0].norm().item()))

    layer.register_forward_pre_hook(remember)
    layer.register_full_backward_hook(hook)
    return sizes
