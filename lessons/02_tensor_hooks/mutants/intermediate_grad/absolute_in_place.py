# misconception: edits in place | hint: changes_gradient
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(lambda grad: seen.append(grad.abs_()))
    return seen
