# misconception: assigns to a local name | hint: nothing_kept
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {name: None for name in layers}
        for name in layers:
            model.get_submodule(name).register_forward_hook(self.hook(self.features[name]))

    def hook(self, feature):
        def fn(module, args, output):
            feature = output

        return fn

    def forward(self, x):
        self.model(x)
        return self.features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
