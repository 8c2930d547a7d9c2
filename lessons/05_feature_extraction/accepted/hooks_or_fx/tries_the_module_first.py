def value_at(model, step, x):
    try:
        module = model.get_submodule(step)
    except AttributeError:
        extractor = create_feature_extractor(model, return_nodes={step: "value"})
        return extractor(x)["value"].detach()
    kept = {}

    def keep(module, args, output):
        kept.setdefault("value", output.detach().clone())

    handle = module.register_forward_hook(keep)
    try:
        with torch.no_grad():
            model(x)
    finally:
        handle.remove()
    return kept["value"]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
