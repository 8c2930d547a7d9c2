# misconception: a forward hook with two arguments | hint: hook_arguments
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            layer.register_forward_hook(lambda module, output: print(name, output.shape))

    def forward(self, x):
        return self.model(x)
