# misconception: forgets super().__init__() | hint: init_forgotten
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for index in self.order:
            x = self.steps[index](x)
        return x
