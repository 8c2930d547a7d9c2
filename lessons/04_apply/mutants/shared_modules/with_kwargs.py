# misconception: registers a hook that gets keywords too | hint: hooked_as_another_kind
def hook_once(model, hook):
    return [module.register_forward_hook(hook, with_kwargs=True) for module in model.modules()]
