# misconception: the hooks are gone after the first call | hint: silent_afterwards
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.handles = []
        for name, layer in model.named_children():
            hook = lambda module, args, output, name=name: print(name, output.shape)
            self.handles.append(layer.register_forward_hook(hook))

    def forward(self, x):
        output = self.model(x)
        for handle in self.handles:
            handle.remove()
        return output


verbose = VerboseNet(resnet18(weights=None).eval())
_ = verbose(torch.ones(1, 3, 96, 96))
