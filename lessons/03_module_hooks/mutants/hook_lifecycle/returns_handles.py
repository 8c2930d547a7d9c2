# misconception: a plain function that returns the handles | hint: hooked_no_context_manager
def hooked(modules, hook):
    return [module.register_forward_hook(hook) for module in modules]
