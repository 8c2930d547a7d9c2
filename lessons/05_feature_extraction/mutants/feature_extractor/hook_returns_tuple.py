# misconception: a lambda that returns a tuple replaces the output | hint: hook_replaces_output
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name in layers:
            model.get_submodule(name).register_forward_hook(
                lambda m, a, o, name=name: (self.features.update({name: o}), None)
            )

    def forward(self, x):
        self.features.clear()
        self.model(x)
        return dict(self.features)
