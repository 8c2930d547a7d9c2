# misconception: takes the hooks off before it returns | hint: hook_never_ran
def hook_once(model, hook):
    handles = []
    for module in model.modules():
        with module.register_forward_hook(hook) as handle:
            handles.append(handle)
    return handles
