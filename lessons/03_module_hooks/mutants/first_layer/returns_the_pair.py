# misconception: the hook returns its pair, which is to replace the gradients | hint: watcher_changes_gradient
def gradient_sizes(layer):
    sizes = []

    def hook(module, grad_input, grad_output):
        before = None if grad_input[0] is None else grad_input[0].norm()
        sizes.append((before, grad_output[0].norm()))
        return (grad_output[0].norm(),)

    layer.register_full_backward_hook(hook)
    return sizes
