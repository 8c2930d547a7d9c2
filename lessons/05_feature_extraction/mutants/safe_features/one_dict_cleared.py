# misconception: one dict for all calls, emptied at each | hint: feat_one_dict
KEPT = {}


def safe_features(model, layers, x):
    KEPT.clear()
    handles = []

    def keep(name, module, args, output):
        KEPT[name] = output.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return KEPT


features = safe_features(TinyResNet().eval(), ["bn1", "block.bn2", "fc"], torch.ones(1, 3, 8, 8))
