# misconception: leaves the model itself out | hint: root_missing
def hook_once(model, hook):
    return [module.register_forward_hook(hook) for name, module in model.named_modules() if name]
