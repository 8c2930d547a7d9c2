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
