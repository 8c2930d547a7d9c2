# misconception: the shape without the batch | hint: one_sample
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output[0].shape))

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
