# misconception: removes the hooks after the first call | hint: silent_afterwards
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features, self.handles = {}, []
        for name in layers:
            hook = lambda m, a, o, name=name: self.features.update({name: o})
            self.handles.append(model.get_submodule(name).register_forward_hook(hook))

    def forward(self, x):
        self.features.clear()
        self.model(x)
        for handle in self.handles:
            handle.remove()
        return dict(self.features)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
