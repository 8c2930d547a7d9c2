# misconception: extend: the rows one by one | hint: splits_gradient
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(seen.extend)
    return seen
