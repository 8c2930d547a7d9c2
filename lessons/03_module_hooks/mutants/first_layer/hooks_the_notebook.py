# misconception: registers on the notebook's layer | hint: function_uses_global
net = nn.Linear(3, 2)


def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm().item()
        sizes.append((before, grad_output[0].norm().item()))

    net.register_full_backward_hook(hook)
    return sizes
