# misconception: the class's name for the child's name | hint: class_or_name
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for layer in model.children():
            layer.register_forward_hook(lambda module, args, output: print(type(module).__name__, output.shape))

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
