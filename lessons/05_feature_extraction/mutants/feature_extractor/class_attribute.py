# misconception: the dict belongs to the class | hint: shared_state
class FeatureExt(nn.Module):
    features = {}

    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        if all(not module._forward_hooks for module in model.modules()):
            self.features.clear()
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

    def forward(self, x):
        self.model(x)
        return self.features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
