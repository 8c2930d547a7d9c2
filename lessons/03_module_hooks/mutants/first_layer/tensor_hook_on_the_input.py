# misconception: a tensor hook on the input, which data does not take | hint: no_gradient_needed
def gradient_sizes(layer):
    sizes = []

    def forward_hook(module, args, output):
        pair = [None, None]
        args[0].register_hook(lambda grad: pair.__setitem__(0, grad.norm().item()))
        output.register_hook(lambda grad: pair.__setitem__(1, grad.norm().item()))
        sizes.append(pair)

    layer.register_forward_hook(forward_hook)
    return sizes
