class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    @property
    def low(self):
        return self._low

    @low.setter
    def low(self, value):
        self._low = value

    def extra_repr(self) -> str:
        return f"low={self.low}, high={self.high}"
