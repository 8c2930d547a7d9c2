# misconception: runs the leaves one after another | hint: children_in_a_row
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = layers

    def forward(self, x):
        features = {}
        for name, module in self.model.named_modules():
            if not list(module.children()):
                x = module(x)
            for layer in self.layers:
                if name == layer or name.startswith(layer + "."):
                    features[layer] = x
        return features
