# misconception: a lambda that returns a tuple replaces the output | hint: hook_replaces_output
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        for name, layer in model.named_children():
            layer.register_forward_hook(lambda m, a, output, name=name: (print(name, output.shape), None))

    def forward(self, x):
        return self.model(x)
