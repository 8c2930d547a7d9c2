# misconception: a container that torch does not have | hint: anatomy_misspelt_method
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.Modulelist(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for index in self.order:
            x = self.steps[index](x)
        return x
