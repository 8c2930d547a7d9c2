class PerSampleGradients:
    """No hooks on the modules at all: their forward is another one until the block ends."""

    def __init__(self, model, reduction="mean"):
        self.model = model
        self.reduction = reduction
        self.gradients = {}
        self.layers = {}

    def __enter__(self):
        for name, layer in self.model.named_modules():
            if isinstance(layer, nn.Linear):
                self.layers[name] = layer
                layer.forward = partial(self.forward, name, layer)
        return self

    def forward(self, name, layer, x):
        y = F.linear(x, layer.weight, layer.bias)
        if y.requires_grad:
            y.register_hook(lambda g: self.collect(name, layer, x.detach(), g * len(g) if self.reduction == "mean" else g))
        return y

    def collect(self, name, layer, x, g):
        parts = {"weight": g.unsqueeze(2) * x.unsqueeze(1), "bias": g if layer.bias is not None else None}
        for short, part in parts.items():
            if part is not None:
                so_far = self.gradients.get(f"{name}.{short}")
                self.gradients[f"{name}.{short}"] = part if so_far is None else so_far + part

    def __exit__(self, *error):
        for layer in self.layers.values():
            del layer.forward
