# misconception: looks among the children | hint: dotted_name
def safe_features(model, layers, x):
    features, handles = {}, []
    children = dict(model.named_children())

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    try:
        for name in layers:
            handles.append(children[name].register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
