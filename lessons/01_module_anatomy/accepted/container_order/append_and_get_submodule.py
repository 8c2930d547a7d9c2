class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.Module()
        for i, step in enumerate(steps):
            self.steps.add_module(str(i), step)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = x
        for i in self.order:
            out = self.get_submodule(f"steps.{i}")(out)
        return out
