# %% after_super
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        return super().extra_repr() + f"low={self.low}, high={self.high}"

# %% assigned_later
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    pass


def clip_text(self):
    return f"low={self.low}, high={self.high}"


Clip.extra_repr = clip_text

# %% equals_sign
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        return f"{self.low=}, {self.high=}".replace("self.", "")

# %% format
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        return "low={low}, high={high}".format(**vars(self))

# %% join
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in ("low", "high"))

# %% on_the_instance
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high
        self.extra_repr = partial(Clip.limits, self)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def limits(self) -> str:
        return f"low={self.low}, high={self.high}"

# %% percent
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def extra_repr(self) -> str:
        text = "low=%s, high=%s" % (self.low, self.high)
        return text

# %% properties
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    @property
    def low(self):
        return self._low

    @low.setter
    def low(self, value):
        self._low = value

    def extra_repr(self) -> str:
        return f"low={self.low}, high={self.high}"

# %% whole_repr
class Clip(nn.Module):
    def __init__(self, low: float, high: float):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(self.low, self.high)

    def __repr__(self):
        text = nn.Module.__repr__(self)
        inner = f"low={self.low}, high={self.high}"
        if text == "Clip()":
            return f"Clip({inner})"
        return text.replace("Clip(", f"Clip(\n  {inner}", 1)
