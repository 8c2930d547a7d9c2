# misconception: the features live in one variable for all objects | hint: shared_state
kept = {}


class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        if all(not m._forward_hooks for m in model.modules()):
            kept.clear()
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: kept.update({name: o}))

    def forward(self, x):
        self.model(x)
        return dict(kept)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
