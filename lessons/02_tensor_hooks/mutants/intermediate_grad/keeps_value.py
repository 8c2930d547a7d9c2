# misconception: appends the tensor | hint: keeps_the_tensor
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(tensor.detach()))
    return seen
