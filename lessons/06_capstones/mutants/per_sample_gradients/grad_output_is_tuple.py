# misconception: multiplies with the tuple of output gradients | hint: per_sample_tuple
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles, self.inputs = [], {}
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                self.handles.append(module.register_forward_hook(partial(self.forward_hook, name)))
                self.handles.append(module.register_full_backward_hook(partial(self.backward_hook, name)))
        return self

    def forward_hook(self, name, module, args, output):
        self.inputs[name] = args[0].detach()

    def backward_hook(self, name, module, grad_input, grad_output):
        N = len(self.inputs[name]) if self.reduction == "mean" else 1
        self.gradients[name + ".weight"] = N * torch.einsum("no,ni->noi", grad_output, self.inputs[name])
        if module.bias is not None:
            self.gradients[name + ".bias"] = N * grad_output

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()
