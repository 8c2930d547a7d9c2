# misconception: asks at which place a step stands | hint: anatomy_inverted_order
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in range(len(self.steps)):
            x = self.steps[self.order.index(i)](x)
        return x
