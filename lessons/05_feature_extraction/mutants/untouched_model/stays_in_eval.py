# misconception: leaves the model in eval mode | hint: feat_mode_lost
@contextmanager
def looking_at(model, hooks):
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for handle in handles:
            handle.remove()
