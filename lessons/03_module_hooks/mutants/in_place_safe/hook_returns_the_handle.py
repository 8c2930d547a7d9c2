# misconception: a lambda whose value, the handle, becomes the output | hint: watcher_changes_output
def output_gradients(layer):
    gradients = []
    layer.register_forward_hook(
        lambda module, args, output: output.register_hook(gradients.append) if output.requires_grad else None
    )
    return gradients
