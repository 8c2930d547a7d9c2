# misconception: remembers the model's mode only | hint: feat_one_mode_for_all
@contextmanager
def looking_at(model, hooks):
    was_training = model.training
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.train(was_training)
        for handle in handles:
            handle.remove()
