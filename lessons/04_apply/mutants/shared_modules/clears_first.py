# misconception: empties the dict of hooks first | hint: hooks_of_others_removed
def hook_once(model, hook):
    handles = {}

    def register(module):
        module._forward_hooks.clear()
        handles[module] = module.register_forward_hook(hook)

    model.apply(register)
    return list(handles.values())
