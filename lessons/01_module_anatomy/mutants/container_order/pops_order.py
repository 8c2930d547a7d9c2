# misconception: empties the order in the first call | hint: consumes_order
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)
        self.order = list(order)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        while self.order:
            x = self.steps[self.order.pop(0)](x)
        return x
