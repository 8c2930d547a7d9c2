# misconception: calls the entries of the order | hint: anatomy_index_for_module
class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for step in self.order:
            x = step(x)
        return x
