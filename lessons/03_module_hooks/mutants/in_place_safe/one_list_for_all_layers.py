# misconception: a global list | hint: shared_list
gradients = []


def output_gradients(layer):
    gradients.clear()

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)

    layer.register_forward_hook(forward_hook)
    return gradients
