# misconception: Parameter with a small letter | hint: anatomy_name_not_there
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = parameter(torch.ones(1))
        self.mean = nn.Buffer(mean)
        self.window = nn.Buffer(torch.hann_window(n), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
