# misconception: files all parts under the layer's name | hint: feat_parts_overwrite
def every_tensor(model, layers, x):
    found, handles = {}, []

    def put(name, value):
        if isinstance(value, torch.Tensor):
            found[name] = value.detach().clone()
        elif isinstance(value, dict):
            for part in value.values():
                put(name, part)
        elif isinstance(value, (tuple, list)):
            for part in value:
                put(name, part)

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
