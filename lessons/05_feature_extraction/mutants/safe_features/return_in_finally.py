# misconception: a return in finally hides the error | hint: feat_error_swallowed
def safe_features(model, layers, x):
    features, handles = {}, []

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    for name in layers:
        handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
    try:
        model(x)
    except Exception:
        pass
    for handle in handles:
        handle.remove()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
