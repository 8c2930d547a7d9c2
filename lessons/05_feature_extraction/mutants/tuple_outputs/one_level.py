# misconception: opens one level | hint: feat_one_level
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        if isinstance(output, torch.Tensor):
            found[name] = output.detach().clone()
        else:
            for i, part in enumerate(output):
                if isinstance(part, torch.Tensor):
                    found[f"{name}.{i}"] = part.detach().clone()

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
