class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    pass


def clip_text(self):
    return f"low={self.low}, high={self.high}"


Clip.extra_repr = clip_text
