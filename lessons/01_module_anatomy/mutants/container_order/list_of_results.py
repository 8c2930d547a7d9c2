# misconception: returns what every step made | hint: anatomy_all_results
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outs = []
        for i in self.order:
            x = self.steps[i](x)
            outs.append(x)
        return outs
