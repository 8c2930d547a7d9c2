# misconception: hooks a new tensor | hint: hook_never_ran
def watch_gradient(tensor):
    seen = []
    copied = tensor * 1
    copied.register_hook(seen.append)
    return seen
