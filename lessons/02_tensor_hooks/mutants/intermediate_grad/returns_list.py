# misconception: the hook returns the list | hint: hook_returns_no_tensor
def watch_gradient(tensor):
    seen = []

    def hook(grad):
        seen.append(grad)
        return seen

    tensor.register_hook(hook)
    return seen
