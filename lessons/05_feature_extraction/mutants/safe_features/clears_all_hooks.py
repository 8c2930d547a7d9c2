# misconception: empties the model's dicts of hooks | hint: removes_other_hooks
def safe_features(model, layers, x):
    features = {}

    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    try:
        for name in layers:
            model.get_submodule(name).register_forward_hook(partial(keep, name))
        model(x)
    finally:
        for module in model.modules():
            module._forward_hooks.clear()
    return features


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
