class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self._features = {layer: torch.empty(0) for layer in layers}
        for name in layers:
            layer = dict([*self.model.named_modules()])[name]
            layer.register_forward_hook(self.save_outputs_hook(name))

    def save_outputs_hook(self, name):
        def fn(_, __, output):
            self._features[name] = output

        return fn

    def forward(self, x):
        _ = self.model(x)
        return self._features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
