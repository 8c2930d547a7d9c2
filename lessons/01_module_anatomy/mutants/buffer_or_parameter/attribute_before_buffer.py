# misconception: assigns the attribute, then registers it | hint: anatomy_name_taken
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.mean = mean
        self.register_buffer("mean", mean)
        self.register_buffer("window", torch.hann_window(n), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
