# misconception: keeps the features and returns nothing | hint: returns_nothing
features = {}


def safe_features(model, layers, x):
    def keep(name, module, args, output):
        features[name] = output.detach().clone()

    handles = [model.get_submodule(name).register_forward_hook(partial(keep, name)) for name in layers]
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()


safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
