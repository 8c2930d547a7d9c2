# misconception: new hooks at each call, never removed | hint: hooks_pile_up
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers, self.features = layers, {}

    def forward(self, x):
        for name in self.layers:
            hook = lambda m, a, o, name=name: self.features.update({name: o})
            self.model.get_submodule(name).register_forward_hook(hook)
        self.model(x)
        return self.features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
