import warnings


def safe_features(model, layers, x):
    features = dict()
    layer_of = {name: model.get_submodule(name) for name in layers}

    def keep(module, args, output):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            features.update({name: torch.tensor(output) for name in layers if layer_of[name] is module})

    with ExitStack() as hooks:
        [hooks.enter_context(layer.register_forward_hook(keep)) for layer in layer_of.values()]
        model(x)
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
