# misconception: the last hook of the loop on every layer | hint: feat_hooks_silent
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = []
    for name, hook in hooks.items():
        handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o: hook(m, a, o)))
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
        for handle in handles:
            handle.remove()
