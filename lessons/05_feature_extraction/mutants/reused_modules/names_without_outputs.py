# misconception: returns the names alone | hint: feat_names_only
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    names, handles = [], []
    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_hook(lambda m, a, o, name=name: names.append(name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return names


print(record_calls(Rounds(), torch.ones(2, 3)))
