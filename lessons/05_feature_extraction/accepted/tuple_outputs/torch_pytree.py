from torch.utils._pytree import tree_flatten_with_path


def every_tensor(model, layers, x):
    found = {}

    def key_of(entry):
        return str(getattr(entry, "idx", getattr(entry, "key", "")))

    def make_hook(name):
        def hook(module, args, output):
            for path, leaf in tree_flatten_with_path(output)[0]:
                if isinstance(leaf, torch.Tensor):
                    found[".".join([name, *map(key_of, path)])] = leaf.detach().clone()

        return hook

    handles = [model.get_submodule(name).register_forward_hook(make_hook(name)) for name in layers]
    try:
        with torch.no_grad():
            model(x)
    finally:
        for handle in handles:
            handle.remove()
    return found


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})
