# misconception: adds what each step makes of x | hint: result_not_passed_on
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return sum(self.steps[i](x) for i in self.order)
