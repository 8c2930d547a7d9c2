# misconception: remembers the direct children's modes | hint: feat_one_mode_for_all
@contextmanager
def looking_at(model, hooks):
    modes = [(child, child.training) for child in model.children()]
    mode = model.training
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(mode)
        for child, training in modes:
            child.train(training)
        for handle in handles:
            handle.remove()
