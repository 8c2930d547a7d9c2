# misconception: switches to training mode at the end | hint: feat_one_mode_for_all
@contextmanager
def looking_at(model, hooks):
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train()
        for handle in handles:
            handle.remove()
