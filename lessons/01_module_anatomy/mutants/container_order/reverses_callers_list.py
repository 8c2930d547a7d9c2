# misconception: turns the list that was handed in | hint: anatomy_changes_callers_list
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        order.reverse()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order[::-1]:
            x = self.steps[i](x)
        return x
