# misconception: keeps the first text in a cache | hint: repr_frozen
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    from functools import cache

    @cache
    def extra_repr(self) -> str:
        return f"low={self.low}, high={self.high}"
