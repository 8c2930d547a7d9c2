# misconception: the loop variable is read when the hook runs | hint: loop_variable
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, handles = [], []
    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_hook(lambda m, a, o: calls.append((name, o.detach().clone()))))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
