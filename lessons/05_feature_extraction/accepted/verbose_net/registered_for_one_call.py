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
