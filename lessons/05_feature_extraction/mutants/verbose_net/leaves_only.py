# misconception: hooks on the leaves instead of the direct children | hint: children_or_modules
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_modules():
            if not list(layer.children()):
                layer.register_forward_hook(partial(self.tell, name))

    @staticmethod
    def tell(name, module, args, output):
        print(f"{name}: {tuple(output.shape)}")

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
