# misconception: registers a forward pre-hook | hint: hooked_as_another_kind
def hook_once(model, hook):
    return [module.register_forward_pre_hook(hook) for module in model.modules()]
