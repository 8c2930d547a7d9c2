def value_at(model, step, x):
    try:
        return create_feature_extractor(model, [step])(x)[step]
    except torch.fx.proxy.TraceError:
        pass
    outputs = []
    handle = model.get_submodule(step).register_forward_hook(lambda m, a, o: outputs.append(o.clone()))
    model(x)
    handle.remove()
    return outputs[0]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
