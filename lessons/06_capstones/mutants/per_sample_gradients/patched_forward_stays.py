# misconception: replaces forward and leaves it so | hint: tool_attributes_left
class PerSampleGradients:
    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}

    def __enter__(self):
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                layer.forward = partial(self.forward, name, layer)
        return self

    def forward(self, name, layer, x):
        output = F.linear(x, layer.weight, layer.bias)
        if output.requires_grad:
            output.register_hook(partial(self.collect, name, layer, x.detach()))
        return output

    def collect(self, name, layer, x, grad):
        if self.reduction == "mean":
            grad = grad * len(grad)
        self.gradients[f"{name}.weight"] = self.gradients.get(f"{name}.weight", 0) + grad[:, :, None] * x[:, None, :]
        if layer.bias is not None:
            self.gradients[f"{name}.bias"] = self.gradients.get(f"{name}.bias", 0) + grad

    def __exit__(self, *error):
        return False
