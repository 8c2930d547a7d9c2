def keep(features, name, module, args, kwargs, output):
    features[name] = output


class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = list(layers)

    def forward(self, x):
        features, handles = {}, []
        try:
            for name in self.layers:
                module = self.model.get_submodule(name)
                handles.append(module.register_forward_hook(partial(keep, features, name), with_kwargs=True))
            self.model(x)
        finally:
            for handle in handles:
                handle.remove()
        return features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
