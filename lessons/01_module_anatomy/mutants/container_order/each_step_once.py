# misconception: uses every step once, as often as the order may say | hint: step_used_once
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in dict.fromkeys(self.order):
            x = self.steps[i](x)
        return x
