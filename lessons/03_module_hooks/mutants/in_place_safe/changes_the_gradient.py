# misconception: the tensor hook returns what it stores, doubled | hint: watcher_changes_gradient
def output_gradients(layer):
    gradients = []

    def keep(grad):
        gradients.append(grad)
        return 2 * grad

    def forward_hook(module, args, output):
        if output.requires_grad:
            output.register_hook(keep)

    layer.register_forward_hook(forward_hook)
    return gradients
