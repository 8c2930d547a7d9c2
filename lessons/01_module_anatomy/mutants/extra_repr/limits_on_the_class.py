# misconception: keeps the limits on the class | hint: anatomy_kept_on_the_class
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        Clip.low = low
        Clip.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        return f"low={self.low}, high={self.high}"
