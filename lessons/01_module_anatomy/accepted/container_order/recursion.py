class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = tuple(order)
        self.steps = nn.ModuleList(steps)

    def run(self, x, position):
        return x if position == len(self.order) else self.run(self.steps[self.order[position]](x), position + 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(x, 0)
