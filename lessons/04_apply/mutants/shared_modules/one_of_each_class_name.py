# misconception: remembers class names | hint: alike_taken_for_same
def hook_once(model, hook):
    handles, seen = [], []
    for module in model.modules():
        if module.__class__.__name__ not in seen:
            seen.append(module.__class__.__name__)
            handles.append(module.register_forward_hook(hook))
    return handles
