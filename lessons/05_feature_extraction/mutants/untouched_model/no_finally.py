# misconception: puts things back where no error comes | hint: feat_error_skips
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    with torch.no_grad():
        yield
    for module, training in modes:
        module.training = training
    for handle in handles:
        handle.remove()
