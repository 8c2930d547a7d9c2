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
