# misconception: skips every module that has a hook | hint: hooks_of_others_counted
def hook_once(model, hook):
    handles = []

    def register(module):
        if len(module._forward_hooks) == 0:
            handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles
