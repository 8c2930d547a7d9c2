class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.mean = nn.Buffer(torch.clone(mean))
        angle = torch.arange(n) * (2 * torch.pi / n)
        self.register_buffer("window", 0.5 - 0.5 * torch.cos(angle), False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
