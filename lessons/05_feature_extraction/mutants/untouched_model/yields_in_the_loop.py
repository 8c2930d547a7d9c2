# misconception: yields once for each hook | hint: feat_no_yield
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    for name, hook in hooks.items():
        handle = model.get_submodule(name).register_forward_hook(hook)
        try:
            with torch.no_grad():
                yield
        finally:
            handle.remove()
            for module, training in modes:
                module.training = training
