# misconception: leaves the hooks there | hint: feat_hook_left
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    for name, hook in hooks.items():
        model.get_submodule(name).register_forward_hook(hook)
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
