# misconception: a hook on the operation, its first output | hint: hooks_the_operation
def watch_gradient(tensor):
    seen = []

    def hook(grad_inputs, grad_outputs):
        seen.append(grad_outputs[0])

    tensor.grad_fn.register_hook(hook)
    return seen
