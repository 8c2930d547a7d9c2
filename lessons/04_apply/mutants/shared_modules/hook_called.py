# misconception: calls the hook instead of handing it over | hint: hook_called_at_once
def hook_once(model, hook):
    return [module.register_forward_hook(hook(module, None, None)) for module in model.modules()]
