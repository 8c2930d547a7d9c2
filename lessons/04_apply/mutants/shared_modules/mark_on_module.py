# misconception: leaves a mark on the module | hint: mark_outlives_hook
def hook_once(model, hook):
    handles = []

    def register(module):
        if not hasattr(module, "hooked"):
            module.hooked = True
            handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles
