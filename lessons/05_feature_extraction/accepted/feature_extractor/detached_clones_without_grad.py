class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers, self.features = layers, {}
        modules = dict(model.named_modules())
        for name in layers:
            modules[name].register_forward_hook(
                lambda m, a, o, name=name: self.features.update({name: o.detach().clone()})
            )

    def forward(self, x):
        self.features = {}
        with torch.no_grad():
            self.model(x)
        return {name: self.features[name] for name in self.layers}


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
