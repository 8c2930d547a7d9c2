# misconception: returns where it should yield | hint: feat_no_yield
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        with torch.no_grad():
            return
    finally:
        for module, training in modes:
            module.training = training
        for handle in handles:
            handle.remove()
