# misconception: runs the steps as they were handed in | hint: given_order
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.Sequential(*steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.steps(x)
