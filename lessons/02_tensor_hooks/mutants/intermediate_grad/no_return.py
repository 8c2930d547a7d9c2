# misconception: does not return the list | hint: returns_no_list
def watch_gradient(tensor):
    seen = []
    tensor.register_hook(seen.append)
