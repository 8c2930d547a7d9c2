# misconception: begins with str(self) | hint: repr_asks_itself
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        return str(self) + f"low={self.low}, high={self.high}"
