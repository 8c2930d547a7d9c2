# misconception: one variable for all handles | hint: feat_hook_left
def safe_features(model, layers, x):
    features = {}

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    try:
        for name in layers:
            handle = model.get_submodule(name).register_forward_hook(partial(keep, name))
        model(x)
    finally:
        handle.remove()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
