# misconception: stores the tuple that a node hook gets | hint: keeps_the_tuple
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.grad_fn.register_prehook(gradients.append)

    layer.register_forward_hook(forward_hook)
    return gradients
