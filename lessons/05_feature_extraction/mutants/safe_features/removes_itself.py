# misconception: each hook removes itself when it fires | hint: feat_hook_left
def safe_features(model, layers, x):
    features, handles = {}, {}

    def keep(name, module, args, output):
        features[name] = output.detach().clone()
        handles.pop(name).remove()

    for name in layers:
        handles[name] = model.get_submodule(name).register_forward_hook(partial(keep, name))
    try:
        model(x)
    except BaseException:
        for handle in handles.values():
            handle.remove()
        raise
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
