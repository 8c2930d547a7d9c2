# misconception: returns the handle | hint: returns_no_list
def watch_gradient(tensor):
    seen = []
    return tensor.register_hook(seen.append)
