class PerSampleGradients:
    def __init__(self, model: nn.Module, reduction: str = "mean") -> None:
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        self.handles = []
        for name, module in self.model.named_modules():
            if isinstance(module, nn.Linear):
                inputs = []
                self.handles.append(module.register_forward_pre_hook(self.make_forward(inputs)))
                self.handles.append(module.register_full_backward_hook(self.make_backward(name, inputs)))
        return self

    def make_forward(self, inputs):
        def forward_hook(module, args):
            inputs.append(args[0].detach().clone())

        return forward_hook

    def make_backward(self, name, inputs):
        def backward_hook(module, grad_input, grad_output):
            x = inputs.pop()  # backward visits the calls in reverse order
            g = grad_output[0].clone()
            if self.reduction == "mean":
                g = g * g.shape[0]
            weight = torch.bmm(g.unsqueeze(2), x.unsqueeze(1))
            if name + ".weight" in self.gradients:
                self.gradients[name + ".weight"] += weight
            else:
                self.gradients[name + ".weight"] = weight
            if module.bias is not None:
                if name + ".bias" in self.gradients:
                    self.gradients[name + ".bias"] += g
                else:
                    self.gradients[name + ".bias"] = g

        return backward_hook

    def __exit__(self, exc_type, exc_value, traceback):
        for handle in self.handles:
            handle.remove()
        self.handles = []
