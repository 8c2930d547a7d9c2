# misconception: returns no handles | hint: returns_nothing
def hook_once(model, hook):
    for module in model.modules():
        module.register_forward_hook(hook)
