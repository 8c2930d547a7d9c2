# misconception: saves the window and not the mean | hint: not_saved
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.register_buffer("mean", mean, persistent=False)
        self.register_buffer("window", torch.hann_window(n))
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
