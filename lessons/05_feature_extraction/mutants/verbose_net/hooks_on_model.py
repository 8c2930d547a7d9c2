# misconception: one hook on the whole model | hint: one_hook_for_all
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        model.register_forward_hook(
            lambda module, args, output: print([(n, output.shape) for n, _ in module.named_children()])
        )

    def forward(self, x):
        return self.model(x)


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
