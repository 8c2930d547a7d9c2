# misconception: runs each layer on the model's input | hint: layers_on_the_input
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.layers = layers

    def forward(self, x):
        return {name: self.model.get_submodule(name)(x) for name in self.layers}
