class Steps(nn.ModuleList):
    def forward(self, x, order):
        for i in order:
            x = self[i](x)
        return x


class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = Steps(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.steps(x, self.order)
