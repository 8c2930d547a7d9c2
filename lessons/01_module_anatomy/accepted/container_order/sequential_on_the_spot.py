class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList()
        self.steps.extend(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.Sequential(*(self.steps[i] for i in self.order))(x)
