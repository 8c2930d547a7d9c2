# misconception: keeps the container in a local variable | hint: attributes_missing
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order:
            x = self.steps[i](x)
        return x
