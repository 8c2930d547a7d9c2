# misconception: the names live in one variable for all objects | hint: shared_state
names = []


class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        names[:] = dict(model.named_children())
        for index, layer in enumerate(model.children()):
            layer.register_forward_hook(lambda module, args, output, index=index: print(names[index], output.shape))

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
