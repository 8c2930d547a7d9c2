# misconception: a heading besides the children's lines | hint: extra_lines
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))

    def forward(self, x):
        print("shapes:")
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
