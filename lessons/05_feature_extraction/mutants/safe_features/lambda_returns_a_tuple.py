# misconception: a lambda that returns a tuple replaces the output | hint: hook_replaces_output
def safe_features(model, layers, x):
    features, handles = {}, []
    try:
        for name in layers:
            hook = lambda m, a, o, name=name: (features.update({name: o.detach().clone()}), None)
            handles.append(model.get_submodule(name).register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
