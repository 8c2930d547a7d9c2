# misconception: __exit__ returns True | hint: feat_error_swallowed
class looking_at:
    def __init__(self, model, hooks):
        self.model, self.hooks, self.no_grad = model, hooks, torch.no_grad()

    def __enter__(self):
        self.modes = [(module, module.training) for module in self.model.modules()]
        self.handles = [self.model.get_submodule(name).register_forward_hook(h) for name, h in self.hooks.items()]
        self.model.eval()
        self.no_grad.__enter__()
        return self

    def __exit__(self, *error):
        self.no_grad.__exit__(*error)
        for module, training in self.modes:
            module.training = training
        for handle in self.handles:
            handle.remove()
        return True
