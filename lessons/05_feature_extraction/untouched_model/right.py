# %% class_with_enter_and_exit
class looking_at:
    def __init__(self, model, hooks):
        self.model, self.hooks = model, hooks

    def __enter__(self):
        self.training = [name for name, module in self.model.named_modules() if module.training]
        layers = {name: self.model.get_submodule(name) for name in self.hooks}  # an error here leaves nothing behind
        self.handles = [layers[name].register_forward_hook(hook) for name, hook in self.hooks.items()]
        self.model.eval()
        self.recording = torch.is_grad_enabled()
        torch.set_grad_enabled(False)
        return self.model

    def __exit__(self, kind, error, traceback):
        torch.set_grad_enabled(self.recording)
        for handle in self.handles:
            handle.remove()
        for name, module in self.model.named_modules():
            module.training = name in self.training
        return False

# %% exit_stack
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

# %% inference_mode
@contextmanager
def looking_at(model, hooks):
    before = [(module, module.training) for module in model.modules()]
    layers = [model.get_submodule(name) for name in hooks]
    handles = [layer.register_forward_hook(hook) for layer, hook in zip(layers, hooks.values())]
    model.train(False)
    try:
        with torch.inference_mode():
            yield handles
    finally:
        for module, mode in before:
            module.training = mode
        [handle.remove() for handle in handles]

# %% those_that_train
@contextmanager
def looking_at(model, hooks):
    learning = [module for module in model.modules() if module.training]
    with ExitStack() as stack, torch.set_grad_enabled(False):
        for name, hook in hooks.items():
            stack.callback(model.get_submodule(name).register_forward_hook(hook).remove)
        model.eval()
        try:
            yield
        finally:
            for module in learning:
                module.training = True
