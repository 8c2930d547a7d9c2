# misconception: sees the sum as an input of the next layer | hint: feat_no_module_behind
def value_at(model, step, x):
    found = []
    if step == "block.add":  # what the second call of the ReLU gets
        hook = model.block.relu.register_forward_pre_hook(lambda m, args: found.append(args[0].clone()))
        index = 1
    elif step == "flatten":
        hook = model.fc.register_forward_pre_hook(lambda m, args: found.append(args[0].clone()))
        index = 0
    else:
        name, index = (step[:-2], 1) if step.endswith("_1") else (step, 0)
        hook = model.get_submodule(name).register_forward_hook(lambda m, a, o: found.append(o.clone()))
    with torch.no_grad():
        model(x)
    hook.remove()
    return found[index]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
