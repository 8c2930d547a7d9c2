class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def __repr__(self):
        text = nn.Module.__repr__(self)
        inner = f"low={self.low}, high={self.high}"
        if text == "Clip()":
            return f"Clip({inner})"
        return text.replace("Clip(", f"Clip(\n  {inner}", 1)
