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
