# misconception: retain_grad, and reads .grad in the hook | hint: uses_retain_grad
def watch_gradient(tensor):
    seen = []
    tensor.retain_grad()
    tensor.register_hook(lambda grad: seen.append(tensor.grad))
    return seen
