class looking_at:
    def __init__(self, model, hooks):
        self.model, self.hooks = model, hooks

    def __enter__(self):
        self.training = [name for name, module in self.model.named_modules() if module.training]
        self.handles = [self.model.get_submodule(name).register_forward_hook(h) for name, h in self.hooks.items()]
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
