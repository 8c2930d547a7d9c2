# misconception: knows LSTM and attention by their class | hint: feat_dict_skipped
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        if isinstance(module, nn.LSTM):
            steps, (h, c) = output
            found[f"{name}.0"], found[f"{name}.1.0"], found[f"{name}.1.1"] = steps, h, c
        elif isinstance(module, nn.MultiheadAttention):
            found[f"{name}.0"], found[f"{name}.1"] = output
        else:
            found[name] = output

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return {place: tensor.detach().clone() for place, tensor in found.items() if tensor is not None}


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})
