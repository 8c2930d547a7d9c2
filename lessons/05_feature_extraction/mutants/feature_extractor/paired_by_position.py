# misconception: pairs names and outputs by position | hint: by_position
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers, self.outputs = layers, []
        for name in layers:
            model.get_submodule(name).register_forward_hook(lambda m, a, o: self.outputs.append(o))

    def forward(self, x):
        self.outputs.clear()
        self.model(x)
        return dict(zip(self.layers, self.outputs))


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool", "layer1.0.conv2"])
features = extractor(torch.ones(1, 3, 96, 96))
