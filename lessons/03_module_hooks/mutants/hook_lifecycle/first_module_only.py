# misconception: hooks the first module only | hint: hooked_one_only
def hooked(modules, hook):
    for module in modules:
        return module.register_forward_hook(hook)
