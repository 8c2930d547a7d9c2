predicted = "enter relu mix relu mix relu".split()


def record_calls(model, x):
    names = {module: name for name, module in model.named_modules()}
    del names[model]
    calls, handles = [], []
    for module in names:
        handles.append(module.register_forward_hook(lambda m, a, o: calls.append([names[m], o.detach().clone()])))
    try:
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
