class gradient_flow_debugger:
    """Watch a forward and a backward pass of `model` in the block."""

    def __init__(self, model):
        self.model = model
        self.handles = []
        self.report = dict(bad_output=None, bad_gradient=None, dead={}, no_gradient=[], gradient_size={})

    def __enter__(self):
        for name, module in self.model.named_modules():
            self.handles.append(module.register_forward_hook(partial(self.on_output, name)))
        return self.report

    def __exit__(self, kind, error, traceback):
        for handle in self.handles:
            handle.remove()
        if kind is not None:
            return False
        for name, p in self.model.named_parameters():
            if p.grad is None:
                self.report["no_gradient"].append(name)
            else:
                self.report["gradient_size"][name] = float(p.grad.abs().mean())
        return False

    def on_output(self, name, module, inputs, output):
        if self.report["bad_output"] is None and not torch.isfinite(output).all():
            self.report["bad_output"] = name
        if type(module) is nn.ReLU:
            others = [d for d in range(output.dim()) if d != 1]
            alive = (output != 0).sum(dim=others) > 0
            self.report["dead"][name] = 1 - alive.sum().item() / alive.numel()
        if output.requires_grad:
            output.register_hook(lambda grad: self.on_gradient(name, grad))

    def on_gradient(self, name, grad):
        if self.report["bad_gradient"] is None and not torch.isfinite(grad).all():
            self.report["bad_gradient"] = name
