# misconception: extends by the gradient | hint: splits_gradient
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.extend)

    layer.register_forward_hook(forward_hook)
    return gradients
