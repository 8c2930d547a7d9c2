class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.register_buffer("mean", None)
        self.mean = mean.detach().clone()
        self.register_buffer("window", torch.empty(n), persistent=False)
        self.window.copy_(torch.hann_window(n))
        self.gain = Parameter(torch.ones(1))
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
