def run(x, steps, order):
    for index in order:
        x = steps[index](x)
    return x


class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return run(x, self.steps, self.order)
