# misconception: returns a copy of the list | hint: other_list_returned
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(seen.append)
    return list(seen)
