# misconception: the gain is a plain tensor that needs a gradient | hint: anatomy_not_a_parameter
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = torch.ones(1, requires_grad=True)
        self.register_buffer("mean", mean)
        self.register_buffer("window", torch.hann_window(n), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
