# misconception: keeps the nesting | hint: feat_nested_value
def every_tensor(model, layers, x):
    found, handles = {}, []

    def copied(value):
        if isinstance(value, torch.Tensor):
            return value.detach().clone()
        if isinstance(value, dict):
            return {key: copied(part) for key, part in value.items()}
        if isinstance(value, (tuple, list)):
            return [copied(part) for part in value]
        return value

    def hook(name, module, args, output):
        found[name] = copied(output)

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
