# misconception: keeps the order on the class | hint: anatomy_kept_on_the_class
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        Chain.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for index in self.order:
            x = self.steps[index](x)
        return x
