# misconception: loops over tensors | hint: feat_tensor_apart
def every_tensor(model, layers, x):
    found, handles = {}, []

    def hook(name, module, args, output):
        for i, part in enumerate(output):
            if isinstance(part, torch.Tensor):
                found[f"{name}.{i}"] = part.detach().clone()
            elif isinstance(part, (tuple, list)):
                for j, inner in enumerate(part):
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
