# misconception: the shapes of the first call are printed again | hint: stale_result
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.shapes = {}
        for name, layer in model.named_children():
            layer.register_forward_hook(
                lambda m, a, output, name=name: self.shapes.setdefault(name, output.shape) and None
            )

    def forward(self, x):
        output = self.model(x)
        for name, shape in self.shapes.items():
            print(name, shape)
        return output


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
