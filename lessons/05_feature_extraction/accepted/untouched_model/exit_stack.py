@contextmanager
def looking_at(model, hooks):
    modes = {module: module.training for module in model.modules()}
    with ExitStack() as stack:
        for module, mode in modes.items():
            stack.callback(setattr, module, "training", mode)
        for name, hook in hooks.items():
            stack.enter_context(model.get_submodule(name).register_forward_hook(hook))
        model.eval()
        stack.enter_context(torch.no_grad())
        yield model
