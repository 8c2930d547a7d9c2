# misconception: puts back all modes but the model's own | hint: feat_mode_lost
@contextmanager
def looking_at(model, hooks):
    modes = {name: module.training for name, module in model.named_modules() if name}
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for name, training in modes.items():
            model.get_submodule(name).training = training
        for handle in handles:
            handle.remove()
