# misconception: unpacks three entries | hint: anatomy_order_of_example
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b, c = self.order
        return self.steps[c](self.steps[b](self.steps[a](x)))
