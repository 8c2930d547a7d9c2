def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if not output.requires_grad:
            return
        output.register_hook(lambda grad: gradients.append(grad.detach().clone()))

    layer.register_forward_hook(forward_hook)
    return gradients
