# misconception: the hooks hang on a copy that never runs | hint: nothing_printed
import copy


class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.watched = copy.deepcopy(model)
        for name, layer in self.watched.named_children():
            layer.register_forward_hook(lambda module, args, output, name=name: print(name, output.shape))

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
