# misconception: persistent as the second argument of Buffer | hint: anatomy_register_arguments
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.mean = nn.Buffer(mean, False)
        self.register_buffer("window", torch.hann_window(n), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
