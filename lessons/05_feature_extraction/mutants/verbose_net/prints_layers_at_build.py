# misconception: prints the parameters' shapes while building | hint: prints_while_building
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            print(name, [tuple(parameter.shape) for parameter in layer.parameters()])

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
