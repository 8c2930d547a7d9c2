# misconception: the gradient at the layer's input instead of the one at its output | hint: per_sample_grad_input
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles, self.inputs = [], {}

        def forward_hook(name, module, args, output):
            self.inputs.setdefault(name, []).append(args[0].detach())

        def backward_hook(name, module, grad_input, grad_output):
            x, g = self.inputs[name].pop(), grad_input[0]
            if self.reduction == "mean":
                g = g * len(g)
            self.gradients[f"{name}.weight"] = self.gradients.get(f"{name}.weight", 0) + torch.einsum("no,ni->noi", g, x)
            if module.bias is not None:
                self.gradients[f"{name}.bias"] = self.gradients.get(f"{name}.bias", 0) + g

        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.handles.append(module.register_forward_hook(partial(forward_hook, name)))
                self.handles.append(module.register_full_backward_hook(partial(backward_hook, name)))
        return self

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
