# misconception: looks the step up among the modules' outputs | hint: feat_fx_own_names
def value_at(model, step, x):
    found, handles = {}, []
    for name, module in model.named_modules():
        handles.append(module.register_forward_hook(lambda m, a, o, name=name: hook_into(found, name, o)))
    with torch.no_grad():
        model(x)
    for handle in handles:
        handle.remove()
    return found[step]


def hook_into(found, name, output):
    if name not in found:
        found[name] = output.detach().clone()


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
