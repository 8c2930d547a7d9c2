# misconception: switches the model to eval mode | hint: changes_mode
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        model.eval()
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

    def forward(self, x):
        self.features.clear()
        self.model(x)
        return dict(self.features)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
