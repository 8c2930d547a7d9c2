# %% assign_to_registered_place
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

# %% copied_with_a_warning
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.register_buffer("mean", torch.tensor(mean))
        self.register_buffer("window", torch.hann_window(n), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain

# %% detached_mean
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.register_buffer("mean", mean.detach())
        self.register_buffer("window", torch.signal.windows.hann(n, sym=False), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain

# %% loop
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

# %% register_all_by_name
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

# %% register_buffer
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.register_buffer("mean", mean)
        self.register_buffer("window", torch.hann_window(n), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain

# %% sine_squared
class AudioFrame(nn.Module):
    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.gain = Parameter(torch.ones(1))
        self.register_buffer("mean", mean)
        self.register_buffer("window", torch.sin(torch.pi * torch.arange(n) / n) ** 2, persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain

# %% window_by_formula
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

# %% a_child_without_tensors
class AudioFrame(nn.Module):
    """Removes the mean of a piece of sound, fades its ends, and scales it."""

    def __init__(self, mean: torch.Tensor, rate: int):
        super().__init__()
        n = len(mean)
        self.register_parameter("bias", None)
        self.after = nn.Identity()
        self.gain = Parameter(torch.ones(1))
        self.mean = nn.Buffer(mean)
        self.window = nn.Buffer(torch.hann_window(n), persistent=False)
        self.rate = rate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x - self.mean) * self.window * self.gain
