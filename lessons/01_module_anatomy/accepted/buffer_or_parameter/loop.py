class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.rate = rate
        for name, value, keep in (("mean", mean, True), ("window", torch.hann_window(n), False)):
            self.register_buffer(name, value, persistent=keep)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
