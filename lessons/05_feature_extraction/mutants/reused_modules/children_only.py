# misconception: hooks on the direct children only | hint: feat_top_level
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, handles = [], []

    def keep(name, module, args, output):
        calls.append((name, output.detach().clone()))

    try:
        for name, child in model.named_children():
            handles.append(child.register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
