# misconception: removes its hook after the first run | hint: runs_only_once
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(gradients.append)
            handle.remove()

    handle = layer.register_forward_hook(forward_hook)
    return gradients
