# misconception: the loop variable is read when the hook runs | hint: loop_variable
def safe_features(model, layers, x):
    features, handles = {}, []
    try:
        for name in layers:

            def keep(module, args, output):
                features[name] = output.detach().clone()

            handles.append(model.get_submodule(name).register_forward_hook(keep))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
