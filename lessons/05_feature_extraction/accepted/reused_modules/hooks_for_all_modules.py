predicted = ["enter"]
predicted += ["relu"]
for _ in range(2):
    predicted += ["mix", "relu"]


def record_calls(model, x):
    names = {id(module): name for name, module in model.named_modules() if name}
    calls = []

    def hook(module, args, output):
        if id(module) in names:
            calls.append((names[id(module)], output.detach().clone()))

    with nn.modules.module.register_module_forward_hook(hook):
        model(x)
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
