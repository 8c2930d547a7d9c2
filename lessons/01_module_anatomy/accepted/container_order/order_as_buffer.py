class Chain(nn.Module):
    def __init__(self, steps: list[nn.Module], order: list[int]):
        super().__init__()
        self.register_buffer("order", torch.tensor(order), persistent=False)
        self.steps = nn.ModuleList(steps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i in self.order.tolist():
            x = self.steps[i](x)
        return x
