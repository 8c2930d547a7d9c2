# misconception: walks the children of each module | hint: feat_under_each_name
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, handles = [], []

    def walk(module, prefix=""):
        for name, child in module.named_children():
            path = prefix + name
            handles.append(child.register_forward_hook(lambda m, a, o, p=path: calls.append((p, o.detach().clone()))))
            walk(child, path + ".")

    try:
        walk(model)
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
