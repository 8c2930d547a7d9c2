# misconception: one global list | hint: shared_list
seen = []


def watch_gradient(tensor):
    tensor.register_hook(seen.append)
    return seen
