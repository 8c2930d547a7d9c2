# misconception: freezes and thaws all parameters | hint: feat_freezes
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    for parameter in model.parameters():
        parameter.requires_grad = False
    try:
        with torch.no_grad():
            yield
    finally:
        for parameter in model.parameters():
            parameter.requires_grad = True
        for module, training in modes:
            module.training = training
        for handle in handles:
            handle.remove()
