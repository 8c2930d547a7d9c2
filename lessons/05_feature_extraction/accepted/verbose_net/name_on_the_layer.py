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
