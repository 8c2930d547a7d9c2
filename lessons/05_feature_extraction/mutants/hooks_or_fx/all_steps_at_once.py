# misconception: asks the extractor for all steps, and picks one | hint: feat_alias
def value_at(model, step, x):
    if step in dict(model.named_modules()):
        found = []
        with model.get_submodule(step).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
            model(x)
        return found[0]
    steps = get_graph_node_names(model)[1]
    return create_feature_extractor(model, steps)(x)[step]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
