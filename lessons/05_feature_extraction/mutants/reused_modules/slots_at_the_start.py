# misconception: a slot for each call, when it begins | hint: feat_begins
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    calls, open_calls, handles = [], [], []

    def begin(name, module, args):
        open_calls.append([name, None])
        calls.append(open_calls[-1])

    def end(name, module, args, output):
        open_calls.pop()[1] = output.detach().clone()

    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_pre_hook(partial(begin, name)))
                handles.append(module.register_forward_hook(partial(end, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return [tuple(call) for call in calls]


happened = record_calls(Rounds(), torch.ones(2, 3)) or []
print("predicted:", predicted)
print("happened: ", [name for name, output in happened])
