class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high
        self.extra_repr = partial(Clip.limits, self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def limits(self) -> str:
        return f"low={self.low}, high={self.high}"
