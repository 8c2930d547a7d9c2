predicted = ["enter", "relu"] + ["mix", "relu"] * 2


def record_calls(model, x):
    calls = []
    with ExitStack() as stack:
        for name, module in model.named_modules():
            if module is not model:

                def hook(module, args, output, name=name):
                    calls.append((name, output.clone().detach()))

                stack.enter_context(module.register_forward_hook(hook))
        model(x)
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
