# misconception: the first call's features stay | hint: stale_result
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name in layers:
            hook = lambda m, a, o, name=name: self.features.setdefault(name, o) is None or None
            model.get_submodule(name).register_forward_hook(lambda m, a, o, hook=hook: hook(m, a, o) and None)

    def forward(self, x):
        self.model(x)
        return self.features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
