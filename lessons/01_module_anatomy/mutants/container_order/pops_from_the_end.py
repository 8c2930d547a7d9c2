# misconception: registers the steps from the last to the first | hint: registered_in_run_order
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList()
        while steps:
            self.steps.append(steps.pop())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order:
            x = self.steps[i](x)
        return x
