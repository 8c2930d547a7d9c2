# misconception: sets the flag of the direct children only | hint: feat_some_modules_only
@contextmanager
def looking_at(model, hooks):
    modes = [(child, child.training) for child in model.children()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    for child, _ in modes:
        child.training = False
    try:
        with torch.no_grad():
            yield
    finally:
        for child, training in modes:
            child.training = training
        for handle in handles:
            handle.remove()
