# misconception: hooks a detached copy | hint: no_gradient_needed
def watch_gradient(tensor):
    seen = []
    tensor.detach().register_hook(seen.append)
    return seen
