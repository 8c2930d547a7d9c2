class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)
        self.run = nn.Sequential(*[self.steps[i] for i in order])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.run(x)
