def hook_once(model, hook):
    handles = []

    def register(module):
        if hook not in module._forward_hooks.values():
            handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles
