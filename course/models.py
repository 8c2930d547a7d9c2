"""The small modules that the lessons put hooks on."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.parameter import Parameter

__all__ = ["Add", "Model", "Residual", "Rounds", "TestNet", "TinyResNet"]


class Add(nn.Module):
    """Adds its two inputs."""

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        output = torch.add(x1, x2)
        return output


class Model(nn.Module):
    """Multiplies its two inputs, then the product by its only parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.W = Parameter(torch.tensor([5.0], dtype=torch.float32))

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        output = x1 * x2
        output = output * self.W
        return output


class TestNet(nn.Module):
    """A convolution, a ReLU and a linear layer, for one image of shape (1, 3, 8, 8)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 10, 2, stride=2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten(0)
        self.fc = nn.Linear(160, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.conv(x))
        x = self.flatten(x)
        return self.fc(x)


TestNet.__test__ = False  # type: ignore[attr-defined]  # pytest would collect a class with a name that starts with Test


class Residual(nn.Module):
    """Two convolutions and a way around them. The ReLU is used twice. It works in place, and so does the sum."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x
        return self.relu(out)


class TinyResNet(nn.Module):
    """ResNet-18 in small, for pictures of any size: a stem, one residual block, a head.

    Pictures have ``colours`` channels; the head gets ``places`` by ``places`` mean values of each map.
    """

    def __init__(self, channels: int = 4, classes: int = 3, colours: int = 3, places: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(colours, channels, 3)
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.block = Residual(channels)
        self.pool = nn.AdaptiveAvgPool2d(places)
        self.fc = nn.Linear(channels * places**2, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.block(x)
        x = torch.flatten(self.pool(x), 1)
        return self.fc(x)


class Rounds(nn.Module):
    """Some layers run more often than others."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(3, 4)
        self.relu = nn.ReLU()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.enter(x))
        for _ in range(2):
            x = self.relu(self.mix(x))
        return torch.relu(1 - x)
