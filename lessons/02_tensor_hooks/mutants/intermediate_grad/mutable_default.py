# misconception: a list as default argument | hint: shared_list
def watch_gradient(tensor, seen=[]):
    tensor.register_hook(seen.append)
    return seen
