# misconception: returns the outputs alone | hint: feat_outputs_only
predicted = ["enter", "relu", "mix", "relu", "mix", "relu"]


def record_calls(model, x):
    outputs, handles = [], []
    try:
        for name, module in model.named_modules():
            if name:
                handles.append(module.register_forward_hook(lambda m, a, o: outputs.append(o.detach().clone())))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return outputs


record_calls(Rounds(), torch.ones(2, 3))
