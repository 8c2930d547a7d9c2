# misconception: puts the buffers back instead of going to eval mode | hint: feat_no_grad_is_not_eval
@contextmanager
def looking_at(model, hooks):
    state = {name: value.clone() for name, value in model.state_dict().items()}
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    try:
        with torch.no_grad():
            yield
    finally:
        model.load_state_dict(state)
        for handle in handles:
            handle.remove()
