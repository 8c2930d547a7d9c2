# misconception: files calls under class names | hint: class_or_name
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, handles = [], []

    def keep(module, args, output):
        calls.append((module.__class__.__name__, output.detach().clone()))

    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_hook(keep))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return calls


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
