# misconception: fills the brackets only where they are empty | hint: repr_overridden
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def __repr__(self):
        return super().__repr__().replace("Clip()", f"Clip(low={self.low}, high={self.high})")
