# misconception: ResNet's forward typed again | hint: typed_in_names
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = layers

    def forward(self, x):
        m, features = self.model, {}
        x = features["conv1"] = m.conv1(x)
        x = m.maxpool(m.relu(m.bn1(x)))
        for name in ("layer1", "layer2", "layer3", "layer4"):
            x = features[name] = getattr(m, name)(x)
        x = features["avgpool"] = m.avgpool(x)
        features["fc"] = m.fc(x.flatten(1))
        return {name: features[name] for name in self.layers}


extractor = FeatureExt(resnet18(weights=None).eval(), ["layer4", "avgpool"])
features = extractor(torch.ones(1, 3, 96, 96))
