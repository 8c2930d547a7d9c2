# misconception: a forward hook with two arguments | hint: hook_arguments
class FeatureExt(nn.Module):
    def __init__(self, model, layers):
        super().__init__()
        self.model = model
        self.features = {}
        for name in layers:
            model.get_submodule(name).register_forward_hook(self.hook(name))

    def hook(self, name):
        def fn(module, output):
            self.features[name] = output

        return fn

    def forward(self, x):
        self.features.clear()
        self.model(x)
        return dict(self.features)
