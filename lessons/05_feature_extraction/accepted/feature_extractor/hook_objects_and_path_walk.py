class Keeper:
    output = None

    def __call__(self, module, args, output):
        self.output = output


class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.keepers = {}
        for name in layers:
            module = model
            for part in name.split("."):
                module = module[int(part)] if part.isdigit() else getattr(module, part)
            self.keepers[name] = Keeper()
            module.register_forward_hook(self.keepers[name])

    def forward(self, x):
        self.model(x)
        return {name: keeper.output for name, keeper in self.keepers.items()}


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
