# misconception: returns zeros | hint: changes_gradient
def watch_gradient(tensor):
    seen = []

    def hook(grad):
        seen.append(grad)
        return grad * 0

    tensor.register_hook(hook)
    return seen
