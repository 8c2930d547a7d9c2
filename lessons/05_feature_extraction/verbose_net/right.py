# %% factory_with_kwargs
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name in dict(model.named_children()):
            getattr(model, name).register_forward_hook(self.make_hook(name), with_kwargs=True)

    def make_hook(self, name):
        def hook(module, args, kwargs, output):
            print("x".join(str(size) for size in output.shape), "<-", name)

        return hook

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))

# %% hook_class_with_class_names
class Teller:
    def __init__(self, name):
        self.name = name

    def __call__(self, module, args, output):
        kind = str(module).splitlines()[0]
        print(kind, "|", self.name, "| in", list(args[0].shape), "| out", list(output.shape))


class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            layer.register_forward_hook(Teller(name))

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))

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


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))

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


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))

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


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))

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


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
