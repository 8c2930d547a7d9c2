# misconception: opens two levels, as many as an LSTM has | hint: feat_one_level
def every_tensor(model, layers, x):
    found, handles = {}, []

    def parts(value):
        return value.items() if isinstance(value, dict) else enumerate(value)

    def hook(name, module, args, output):
        if isinstance(output, torch.Tensor):
            found[name] = output.detach().clone()
        elif isinstance(output, (tuple, list, dict)):
            for i, part in parts(output):
                if isinstance(part, torch.Tensor):
                    found[f"{name}.{i}"] = part.detach().clone()
                elif isinstance(part, (tuple, list, dict)):
                    for j, inner in parts(part):
                        if isinstance(inner, torch.Tensor):
                            found[f"{name}.{i}.{j}"] = inner.detach().clone()

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(partial(hook, name)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})
