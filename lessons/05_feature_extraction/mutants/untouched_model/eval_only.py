# misconception: takes eval for no_grad | hint: feat_eval_is_not_no_grad
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
        for handle in handles:
            handle.remove()
