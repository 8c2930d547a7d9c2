# misconception: the gain is a buffer that needs a gradient | hint: parameter_as_buffer
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = nn.Buffer(torch.ones(1, requires_grad=True))
        self.register_buffer("mean", mean)
        self.register_buffer("window", torch.hann_window(n), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
