# misconception: empties the list at each forward | hint: keeps_last_only
def output_gradients(layer):
    gradients = []

    def forward_hook(module, args, output):
        gradients.clear()
        if output.requires_grad:
            output.register_hook(gradients.append)

    layer.register_forward_hook(forward_hook)
    return gradients
