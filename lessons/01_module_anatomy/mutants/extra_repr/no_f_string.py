# misconception: forgets the f in front of the quotes | hint: repr_not_filled_in
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        return "low={self.low}, high={self.high}"
