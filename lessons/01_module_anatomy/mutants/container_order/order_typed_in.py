# misconception: types the order of the example | hint: anatomy_order_of_example
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in [1, 0]:
            x = self.steps[i](x)
        return x
