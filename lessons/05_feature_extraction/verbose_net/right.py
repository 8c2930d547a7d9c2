# %% name_on_the_layer
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            layer.__name__ = name
            layer.register_forward_hook(lambda layer, _, output: print(f"new --->: {layer.__name__}: {output.shape}"))

    def forward(self, x):
        return self.model(x)

# %% printed_at_the_end
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.names = {layer: name for name, layer in model.named_children()}
        self.shapes = []
        for layer in model.children():
            layer.register_forward_hook(self.note)

    def note(self, module, args, output):
        self.shapes.append((self.names[module], output.size()))

    def forward(self, x):
        self.shapes.clear()
        output = self.model(x)
        for name, shape in reversed(self.shapes):
            print(f"{name:>12s}: {shape!s:30s}")
        return output

# %% registered_for_one_call
from contextlib import ExitStack


class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        pass

    def forward(self, x):
        with ExitStack() as stack:
            for name, layer in self.model.named_children():
                stack.enter_context(
                    layer.register_forward_hook(lambda m, a, o, name=name: print((name, tuple(o.shape))))
                )
            return self.model(x)

# %% wraps_forward
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            self.wrap(name, layer)

    def wrap(self, name, layer):
        old = layer.forward

        def forward(*args, **kwargs):
            output = old(*args, **kwargs)
            print(name, list(output.shape), sep="\t")
            return output

        layer.forward = forward

    def forward(self, x):
        return self.model(x)
