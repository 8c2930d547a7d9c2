# misconception: remembers classes | hint: alike_taken_for_same
def hook_once(model, hook):
    handles, seen = [], set()

    def register(module):
        if type(module) not in seen:
            seen.add(type(module))
            handles.append(module.register_forward_hook(hook))

    model.apply(register)
    return handles
