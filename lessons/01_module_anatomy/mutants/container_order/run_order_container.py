# misconception: registers the steps in run order | hint: registered_in_run_order
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.Sequential(*[steps[i] for i in order])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.steps(x)
