# misconception: registers after the block | hint: feat_hooks_silent
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
        for module, training in modes:
            module.training = training
        for handle in handles:
            handle.remove()
