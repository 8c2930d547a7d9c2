# misconception: retain_grad beside the hook | hint: uses_retain_grad
def watch_gradient(tensor):
    seen = []
    tensor.retain_grad()
    tensor.register_hook(seen.append)
    return seen
