class Opener:
    def __init__(self):
        self.tensors = {}

    def __call__(self, name, module, inputs, output):
        self.open(output, [name])

    def open(self, value, path):
        if hasattr(value, "detach"):
            self.tensors[".".join(path)] = value.detach().clone()
        elif hasattr(value, "items"):
            [self.open(part, [*path, str(key)]) for key, part in value.items()]
        elif type(value) in (tuple, list):
            [self.open(part, [*path, str(i)]) for i, part in enumerate(value)]


def every_tensor(model, layers, x):
    opener, handles = Opener(), []
    modules = dict(model.named_modules())
    try:
        for name in layers:
            handles.append(modules[name].register_forward_hook(partial(opener, name)))
        model(x)
    finally:
        while handles:
            handles.pop().remove()
    return opener.tensors


tensors = every_tensor(nn.Sequential(nn.LSTM(4, 3)), ["0"], torch.ones(5, 2, 4)) or {}
print({place: tuple(tensor.shape) for place, tensor in tensors.items()})
