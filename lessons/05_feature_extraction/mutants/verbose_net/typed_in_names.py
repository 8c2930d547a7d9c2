# misconception: the names of ResNet-18, typed in | hint: typed_in_names
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name in "conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool fc".split():
            getattr(model, name).register_forward_hook(partial(self.tell, name))

    def tell(self, name, module, args, output):
        print(name, output.shape)

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
