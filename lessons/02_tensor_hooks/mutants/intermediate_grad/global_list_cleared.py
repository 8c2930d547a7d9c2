# misconception: one global list, emptied by each call | hint: shared_list
seen = []


def watch_gradient(tensor):
    seen.clear()
    tensor.register_hook(seen.append)
    return seen
