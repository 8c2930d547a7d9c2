# misconception: runs from the end of the order | hint: anatomy_reversed_order
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in reversed(self.order):
            x = self.steps[i](x)
        return x
