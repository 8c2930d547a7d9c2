# misconception: numbers the calls as torch.fx does | hint: feat_numbered
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, handles, times = [], [], {}

    def keep(name, module, args, output):
        number = times.get(name, 0)
        times[name] = number + 1
        calls.append((f"{name}_{number}" if number else name, output.detach().clone()))

    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_hook(partial(keep, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
