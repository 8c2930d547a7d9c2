# misconception: keeps the limits of __init__ in a closure | hint: repr_frozen
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high
        self.extra_repr = lambda: f"low={low}, high={high}"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)
