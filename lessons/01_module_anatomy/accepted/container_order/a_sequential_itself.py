class Chain(nn.Sequential):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.order = order
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order:
            x = self.steps.get_submodule(str(i))(x)
        return x
