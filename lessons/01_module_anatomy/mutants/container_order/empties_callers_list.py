# misconception: takes the steps out of the list that was handed in | hint: anatomy_changes_callers_list
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList()
        while steps:
            self.steps.append(steps.pop(0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order:
            x = self.steps[i](x)
        return x
