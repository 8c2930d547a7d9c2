class Keeper:
    def __init__(self, model, layers):
        self.features = {}
        self.handles = [model.get_submodule(name).register_forward_hook(self.hook(name)) for name in layers]

    def hook(self, name):
        return lambda module, args, output: self.features.__setitem__(name, torch.tensor(output.tolist()))

    def __enter__(self):
        return self.features

    def __exit__(self, *error):
        for handle in self.handles:
            handle.remove()


def safe_features(model, layers, x):
    with Keeper(model, layers) as features:
        model(x)
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
