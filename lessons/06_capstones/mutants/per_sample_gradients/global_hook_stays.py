# misconception: a hook for all modules of the process that nobody removes | hint: tool_hooks_left
class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.names = {m: name for name, m in model.named_modules() if isinstance(m, nn.Linear)}
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        nn.modules.module.register_module_forward_hook(self.forward_hook)
        self.active = True
        return self

    def forward_hook(self, module, args, output):
        if self.active and module in self.names:
            output.register_hook(partial(self.collect, self.names[module], module, args[0].detach()))

    def collect(self, name, module, x, grad):
        if self.reduction == "mean":
            grad = grad * len(grad)
        parts = {f"{name}.weight": torch.einsum("no,ni->noi", grad, x)}
        if module.bias is not None:
            parts[f"{name}.bias"] = grad
        for key, value in parts.items():
            self.gradients[key] = self.gradients.get(key, 0) + value

    def __exit__(self, *error):
        self.active = False
