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
