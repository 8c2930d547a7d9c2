# misconception: the name is stored on the layer's class | hint: name_on_the_class
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            type(layer).label = name
            layer.register_forward_hook(lambda module, args, output: print(type(module).label, output.shape))

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
