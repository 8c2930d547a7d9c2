class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.names = {model.get_submodule(name): name for name in layers}
        self.found = []
        for module in self.names:
            module.register_forward_hook(self.keep)

    def keep(self, module, args, output):
        self.found.append((self.names[module], output.clone()))

    def forward(self, x):
        self.found.clear()
        self.model(x)
        return dict(self.found)


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
