def watch_gradient(tensor):
    seen = []

    def hook(grad):
        nonlocal seen
        seen += [grad]

    tensor.register_hook(hook)
    return seen
