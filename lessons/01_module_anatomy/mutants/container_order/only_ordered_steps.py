# misconception: registers only the steps that run, and sorts them | hint: steps_dropped
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps[i] for i in sorted(set(order)))
        self.order = [sorted(set(order)).index(i) for i in order]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for index in self.order:
            x = self.steps[index](x)
        return x
