def hook_once(model, hook, seen=None):
    seen = set() if seen is None else seen
    if model in seen:
        return []
    seen.add(model)
    handles = [model.register_forward_hook(hook)]
    for child in model.children():
        handles += hook_once(child, hook, seen)
    return handles
