# misconception: keeps the output itself | hint: feat_alias
def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found = []
    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach())):
        model(x)
    return found[0]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
