# misconception: the hook hands a scaled feature on | hint: changes_the_flow
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name in layers:
            model.get_submodule(name).register_forward_hook(self.hook(name))

    def hook(self, name):
        def fn(module, args, output):
            self.features[name] = output
            return output / output.abs().max()

        return fn

    def forward(self, x):
        self.features.clear()
        self.model(x)
        return dict(self.features)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
