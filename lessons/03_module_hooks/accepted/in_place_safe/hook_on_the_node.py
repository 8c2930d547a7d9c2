def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.grad_fn is not None:
            output.grad_fn.register_prehook(lambda grad_outputs: gradients.append(grad_outputs[0]))

    layer.register_forward_hook(forward_hook)
    return gradients
