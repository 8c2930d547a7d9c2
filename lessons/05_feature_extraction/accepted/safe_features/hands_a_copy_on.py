@contextmanager
def recorded(model, layers, features):
    def keep(name, module, args, output):
        features[name] = output.data
        return output.clone()  # whatever is written later goes into the copy

    handles = [model.get_submodule(name).register_forward_hook(partial(keep, name)) for name in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def safe_features(model, layers, x):
    features = {}
    with recorded(model, layers, features):
        model(x.clone())
    return {name: value.clone() for name, value in features.items()}


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
