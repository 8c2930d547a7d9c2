# misconception: leaves autograd switched off | hint: feat_grad_mode
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    torch.set_grad_enabled(False)
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
        for handle in handles:
            handle.remove()
