# misconception: each hook is registered twice | hint: prints_again
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for _ in range(2):
            for name, layer in model.named_children():
                layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
