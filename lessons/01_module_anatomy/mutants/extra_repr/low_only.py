# misconception: shows one limit | hint: repr_incomplete
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        return f"low={self.low}"
