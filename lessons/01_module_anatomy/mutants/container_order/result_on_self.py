# misconception: goes on from the last call's result | hint: consumes_order
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)
        self.x = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.x is None:
            self.x = x
        for i in self.order:
            self.x = self.steps[i](self.x)
        return self.x
