# misconception: loses the forward | hint: anatomy_changes_the_rest
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass

    def extra_repr(self) -> str:
        return f"low={self.low}, high={self.high}"
