# misconception: hooks modules without children | hint: hooked_leaves_only
def hook_once(model, hook):
    handles = []
    for module in model.modules():
        if len(list(module.children())) == 0:
            handles.append(module.register_forward_hook(hook))
    return handles
