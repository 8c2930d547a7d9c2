# misconception: one container for all chains, in the class body | hint: anatomy_kept_on_the_class
class Chain(nn.Module):
    steps = nn.ModuleList()

    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps.extend(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for index in self.order:
            x = self.steps[index](x)
        return x
