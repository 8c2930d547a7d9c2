# misconception: replaces the content | hint: keeps_last_only
def watch_gradient(tensor):
    seen = []

    def hook(grad):
        seen[:] = [grad]

    tensor.register_hook(hook)
    return seen
