# misconception: takes no_grad for eval | hint: feat_no_grad_is_not_eval
@contextmanager
def looking_at(model, hooks):
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    try:
        with torch.no_grad():
            yield
    finally:
        for handle in handles:
            handle.remove()
