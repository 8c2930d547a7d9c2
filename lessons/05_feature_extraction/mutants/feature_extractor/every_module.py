# misconception: keeps all layers | hint: all_layers
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name, module in model.named_modules():
            module.register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

    def forward(self, x):
        self.features.clear()
        self.model(x)
        return dict(self.features)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
