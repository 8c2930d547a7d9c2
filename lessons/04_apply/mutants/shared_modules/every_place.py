# misconception: goes over all names of a module | hint: hooked_per_visit
def hook_once(model, hook):
    return [
        module.register_forward_hook(hook) for _, module in model.named_modules(remove_duplicate=False)
    ]
