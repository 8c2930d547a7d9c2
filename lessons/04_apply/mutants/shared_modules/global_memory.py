# misconception: remembers over all calls | hint: mark_outlives_hook
seen = set()


def hook_once(model, hook):
    handles = []

    def register(module):
        if module in seen:
            return
        seen.add(module)
        handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles
