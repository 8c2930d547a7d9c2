# misconception: writes into the input | hint: overwrites_input
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            for i in self.order:
                x.copy_(self.steps[i](x))
        return x
