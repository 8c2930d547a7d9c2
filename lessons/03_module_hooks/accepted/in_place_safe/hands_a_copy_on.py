def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        copy = output.clone()
        if copy.requires_grad:
            copy.register_hook(gradients.append)
        return copy

    layer.register_forward_hook(forward_hook)
    return gradients
