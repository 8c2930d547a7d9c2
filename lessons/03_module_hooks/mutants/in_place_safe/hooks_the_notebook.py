# misconception: registers on the notebook's network | hint: function_uses_global
net = nn.Linear(3, 4)


def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)

    net.register_forward_hook(forward_hook)
    return gradients
