# misconception: numbers the values of a dict | hint: feat_dict_skipped
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(place, value):
        if isinstance(value, torch.Tensor):
            found[place] = value.detach().clone()
        elif isinstance(value, dict):
            put(place, list(value.values()))
        elif isinstance(value, (tuple, list)):
            for i, part in enumerate(value):
                put(f"{place}.{i}", part)

    try:
        for name in layers:
            handles.append(model.get_submodule(name).register_forward_hook(lambda m, a, o, name=name: put(name, o)))
        model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})
