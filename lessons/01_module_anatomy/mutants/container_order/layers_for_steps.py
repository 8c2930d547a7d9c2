# misconception: keeps the steps under another name | hint: anatomy_other_names
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.layers = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order:
            x = self.layers[i](x)
        return x
