# misconception: leaves the hooks there | hint: feat_hook_left
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls = []

    def keep(name, module, args, output):
        calls.append((name, output.detach().clone()))

    for name, module in model.named_modules():
        if name:
            module.register_forward_hook(partial(keep, name))
    model(x)
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
