# misconception: hides the error | hint: feat_error_swallowed
@contextmanager
def looking_at(model, hooks):
    modes = [(module, module.training) for module in model.modules()]
    handles = [model.get_submodule(name).register_forward_hook(hook) for name, hook in hooks.items()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    except Exception as error:
        print("something went wrong:", error)
    for module, training in modes:
        module.training = training
    for handle in handles:
        handle.remove()
