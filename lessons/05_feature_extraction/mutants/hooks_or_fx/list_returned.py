# misconception: returns all calls | hint: feat_dict_for_value
def value_at(model, step, x):
    if step not in dict(model.named_modules()):
        return create_feature_extractor(model, [step])(x)[step]
    found = []
    with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
        model(x)
    return found


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
