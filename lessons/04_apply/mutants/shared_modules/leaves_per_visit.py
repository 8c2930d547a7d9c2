# misconception: hooks leaves, at every visit | hint: hooked_leaves_only
def hook_once(model, hook):
    handles = []

    def register(module):
        if not list(module.children()):
            handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles
