# misconception: a default argument that lives on | hint: mark_outlives_hook
def hook_once(model, hook, seen=set()):
    handles = []
    for module in model.modules():
        if module not in seen:
            seen.add(module)
            handles.append(module.register_forward_hook(hook))
    return handles
