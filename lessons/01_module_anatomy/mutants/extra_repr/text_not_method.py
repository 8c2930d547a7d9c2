# misconception: extra_repr is a text | hint: repr_not_method
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high
        self.extra_repr = f"low={low}, high={high}"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)
