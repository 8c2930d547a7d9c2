# misconception: the loop variable is read when the hook runs, over a filled dict | hint: loop_variable
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {name: torch.empty(0) for name in layers}
        for name in layers:

            def hook(module, args, output):
                self.features[name] = output

            model.get_submodule(name).register_forward_hook(hook)

    def forward(self, x):
        self.model(x)
        return self.features


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
