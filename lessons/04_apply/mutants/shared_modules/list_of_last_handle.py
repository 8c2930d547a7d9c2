# misconception: makes the list anew in each turn | hint: one_handle_kept
def hook_once(model, hook):
    for module in model.modules():
        handles = []
        handles.append(module.register_forward_hook(hook))
    return handles
