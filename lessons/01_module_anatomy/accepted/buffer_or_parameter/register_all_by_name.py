class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.register_parameter("gain", Parameter(torch.ones(1)))
        self.register_buffer("mean", mean.clone(), persistent=True)
        self.window = nn.Buffer(torch.hann_window(n), persistent=False)
        self.rate = int(rate)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
