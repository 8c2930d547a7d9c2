# misconception: puts modes back with train, parents last | hint: feat_one_mode_for_all
@contextmanager
def looking_at(model, hooks):
    modes = {module: module.training for module in model.modules()}
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.apply(lambda module: module.train(modes[module]))
        for handle in handles:
            handle.remove()
