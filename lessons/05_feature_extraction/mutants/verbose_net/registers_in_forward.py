# misconception: new hooks at each call, never removed | hint: hooks_pile_up
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        pass

    def forward(self, x):
        for name, layer in self.model.named_children():
            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
