# misconception: removes at the end only | hint: feat_error_skips
def safe_features(model, layers, x):
    features, handles = {}, []

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    for name in layers:
        handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
    model(x)
    for handle in handles:
        handle.remove()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
