# misconception: overrides __str__ | hint: repr_misnamed
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def __str__(self) -> str:
        return f"Clip(low={self.low}, high={self.high})"
