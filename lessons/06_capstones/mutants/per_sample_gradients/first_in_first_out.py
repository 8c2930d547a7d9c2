# misconception: pairs the calls of a reused layer in forward order | hint: per_sample_wrong_pairs
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}
        self.inputs = {}
        self.handles = []

    def __enter__(self):
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.inputs[name] = []
                self.handles.append(module.register_forward_hook(partial(self.forward_hook, name)))
                self.handles.append(module.register_full_backward_hook(partial(self.backward_hook, name)))
        return self

    def forward_hook(self, name, module, args, output):
        self.inputs[name].append(args[0].detach())

    def backward_hook(self, name, module, grad_input, grad_output):
        x = self.inputs[name].pop(0)
        g = grad_output[0]
        if self.reduction == "mean":
            g = g * g.shape[0]
        for key, value in ((f"{name}.weight", g[:, :, None] * x[:, None, :]), (f"{name}.bias", g)):
            if key.endswith("bias") and module.bias is None:
                continue
            self.gradients[key] = self.gradients[key] + value if key in self.gradients else value

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
