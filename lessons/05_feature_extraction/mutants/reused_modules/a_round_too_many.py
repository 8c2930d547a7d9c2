# misconception: counts one round too many | hint: feat_rounds_counted
predicted = ["enter", "relu", "mix", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, handles = [], []
    try:
        for name, module in model.named_modules():
            if name:
                hook = lambda m, a, o, name=name: calls.append((name, o.detach().clone()))
                handles.append(module.register_forward_hook(hook))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
