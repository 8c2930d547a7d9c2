# misconception: runs the children one after another | hint: children_in_a_row
class VerboseNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        pass

    def forward(self, x):
        for name, layer in self.model.named_children():
            x = layer(x)
            print(name, tuple(x.shape))
        return x
