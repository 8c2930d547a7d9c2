# misconception: reads .grad of the tensor in the hook | hint: reads_grad_early
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(tensor.grad))
    return seen
