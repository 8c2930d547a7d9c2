# misconception: hooks the model and its direct children | hint: children_for_modules
def hook_once(model, hook):
    handles = [model.register_forward_hook(hook)]
    for name, child in model.named_children():
        handles.append(child.register_forward_hook(hook))
    return handles
