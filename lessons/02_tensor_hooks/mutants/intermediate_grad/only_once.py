# misconception: only if the list is empty | hint: runs_only_once
def watch_gradient(tensor):
    seen = []

    def hook(grad):
        if not seen:
            seen.append(grad)

    tensor.register_hook(hook)
    return seen
