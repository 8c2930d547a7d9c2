# misconception: one mean for all samples | hint: wrong_start
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.register_buffer("mean", mean.mean())
        self.register_buffer("window", torch.hann_window(n), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
