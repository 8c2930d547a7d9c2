# misconception: keeps the last gradient | hint: keeps_last_only
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        def keep(grad):
            gradients[:] = [grad]

        if output.requires_grad:
            output.register_hook(keep)

    layer.register_forward_hook(forward_hook)
    return gradients
