# misconception: returns the handle | hint: returns_no_list
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)

    return layer.register_forward_hook(forward_hook)
