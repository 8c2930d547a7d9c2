# misconception: switches the BatchNorm layers only | hint: feat_some_modules_only
@contextmanager
def looking_at(model, hooks):
    norms = [(m, m.training) for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    for norm, _ in norms:
        norm.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for norm, training in norms:
            norm.training = training
        for handle in handles:
            handle.remove()
