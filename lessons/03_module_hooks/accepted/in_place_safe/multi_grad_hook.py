def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            torch.autograd.graph.register_multi_grad_hook((output,), lambda grads: gradients.append(grads[0]))

    layer.register_forward_hook(forward_hook)
    return gradients
