# misconception: hooks on modules without children only | hint: feat_no_containers
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, handles = [], []

    def keep(name, module, args, output):
        calls.append((name, output.detach().clone()))

    try:
        for name, module in model.named_modules():
            if len(list(module.children())) == 0:
                handles.append(module.register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
