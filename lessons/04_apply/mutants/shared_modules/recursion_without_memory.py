# misconception: own recursion, comes to a shared module twice | hint: hooked_per_visit
def hook_once(model, hook):
    handles = [model.register_forward_hook(hook)]
    for child in model.children():
        handles.extend(hook_once(child, hook))
    return handles
