# misconception: gives None where there is no module | hint: feat_no_module_behind
def value_at(model, step, x):
    modules = dict(model.named_modules())
    if step not in modules:
        return None
    found = []
    with modules[step].register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
        model(x)
    return found[0]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
