# misconception: reads a ModuleDict by number | hint: anatomy_container_arguments
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleDict({str(i): s for i, s in enumerate(steps)})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order:
            x = self.steps[i](x)
        return x
