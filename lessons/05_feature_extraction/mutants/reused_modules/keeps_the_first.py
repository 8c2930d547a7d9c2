# misconception: keeps the first call of each module | hint: feat_one_entry
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, handles = {}, []

    def keep(name, module, args, output):
        if name not in calls:
            calls[name] = output.detach().clone()

    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return list(calls.items())


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
