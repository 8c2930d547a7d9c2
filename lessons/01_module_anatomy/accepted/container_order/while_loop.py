class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        position = 0
        while position < len(self.order):
            x = self.steps[self.order[position]].forward(x)
            position += 1
        return x
