# misconception: leaves the hooks there | hint: feat_hook_left
def safe_features(model, layers, x):
    features = {}

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    for name in layers:
        model.get_submodule(name).register_forward_hook(partial(keep, name))
    model(x)
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
