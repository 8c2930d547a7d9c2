# misconception: freezes the parameters instead of switching autograd off | hint: feat_freezes
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    model.requires_grad_(False)
    try:
        yield
    finally:
        model.requires_grad_(True)
        for module, training in modes:
            module.training = training
        for handle in handles:
            handle.remove()
