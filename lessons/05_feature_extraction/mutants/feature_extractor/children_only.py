# misconception: looks for nested layers among the children | hint: dotted_name
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        children = dict(model.named_children())
        for name in layers:
            children[name].register_forward_hook(lambda m, a, o, name=name: self.features.update({name: o}))

    def forward(self, x):
        self.features.clear()
        self.model(x)
        return dict(self.features)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool"])
features = extractor(torch.ones(1, 3, 96, 96))
