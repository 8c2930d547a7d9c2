# misconception: counts the tensors through | hint: feat_flat_numbers
def every_tensor(model, layers, x):
    found, handles = {}, []

    def tensors_in(value):
        if isinstance(value, torch.Tensor):
            return [value.detach().clone()]
        if isinstance(value, dict):
            value = list(value.values())
        return [t for part in value for t in tensors_in(part)] if isinstance(value, (tuple, list)) else []

    def hook(name, module, args, output):
        if isinstance(output, torch.Tensor):
            found[name] = output.detach().clone()
        else:
            for i, tensor in enumerate(tensors_in(output)):
                found[f"{name}.{i}"] = tensor

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
