# misconception: takes .data for a copy | hint: feat_alias
def safe_features(model, layers, x):
    features = {}
    with ExitStack() as stack:
        for name in layers:
            layer = model.get_submodule(name)
            stack.enter_context(layer.register_forward_hook(lambda m, a, o, name=name: features.update({name: o.data})))
        model(x)
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
