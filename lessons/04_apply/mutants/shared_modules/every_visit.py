# misconception: registers at every visit | hint: hooked_per_visit
def hook_once(model, hook):
    handles = []

    def register(module):
        handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles
