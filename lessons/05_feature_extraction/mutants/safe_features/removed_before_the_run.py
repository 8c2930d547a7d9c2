# misconception: the with ends before the model runs | hint: nothing_kept
def safe_features(model, layers, x):
    features = {}
    for name in layers:
        hook = lambda m, a, o, name=name: features.update({name: o.detach().clone()})
        with model.get_submodule(name).register_forward_hook(hook):
            pass
    model(x)
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
