"""The small modules that the lessons put hooks on."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.parameter import Parameter

__all__ = ["Add", "Model", "TestNet"]


class Add(nn.Module):
    """Adds its two inputs."""

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        output = torch.add(x1, x2)
        return output


class Model(nn.Module):
    """Multiplies its two inputs, then the product by its only parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.W = Parameter(torch.tensor([5.0]))

    def forward(self, x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
        output = x1 * x2
        output = output * self.W
        return output


class TestNet(nn.Module):
    """A convolution, a ReLU and a linear layer, for one image of shape (1, 3, 8, 8)."""

    __test__ = False  # pytest collects classes whose names start with Test; this one is a model

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 10, 2, stride=2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten(0)
        self.fc = nn.Linear(160, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.conv(x))
        x = self.flatten(x)
        return self.fc(x)  # type: ignore[no-any-return]
