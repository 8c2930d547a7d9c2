# misconception: takes every number for a call of a module | hint: feat_call_number
import re


def value_at(model, step, x):
    match = re.fullmatch(r"(.+)_(\d+)", step)
    name, number = (match[1], int(match[2])) if match else (step, 0)
    if name not in dict(model.named_modules()) and not match:
        return create_feature_extractor(model, [step])(x)[step]
    found = []
    with model.get_submodule(name).register_forward_hook(lambda m, a, o: found.append(o.detach().clone())):
        model(x)
    return found[number]


for step in ("bn1", "block.add", "flatten"):
    value = value_at(TinyResNet().eval(), step, torch.ones(1, 3, 8, 8))
    print(step, None if value is None else tuple(value.shape))
