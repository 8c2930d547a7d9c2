"""A model that is a tree: the lesson on ``apply`` walks it, initialises it, renames it, rewires it.

::

    Model
    ├── ab: Layer_AB
    │   ├── a: Function_A     x + W
    │   └── b: Function_B     x - W
    └── cd: Layer_CD
        ├── c: Function_C     x * W
        └── d: Function_D     x / W
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.parameter import Parameter

__all__ = ["FORWARDS", "Function_A", "Function_B", "Function_C", "Function_D", "Layer_AB", "Layer_CD", "Model"]


class Function_A(nn.Module):
    """Adds W."""

    def __init__(self, name: str = "duck", shape: tuple[int, ...] = (1,)) -> None:
        super().__init__()
        self.name = name
        self.W = Parameter(torch.rand(shape, dtype=torch.float32) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.W


class Function_B(nn.Module):
    """Subtracts W."""

    def __init__(self, name: str = "goose", shape: tuple[int, ...] = (1,)) -> None:
        super().__init__()
        self.name = name
        self.W = Parameter(torch.rand(shape, dtype=torch.float32) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - self.W


class Function_C(nn.Module):
    """Multiplies by W."""

    def __init__(self, name: str = "heron", shape: tuple[int, ...] = (1,)) -> None:
        super().__init__()
        self.name = name
        self.W = Parameter(torch.rand(shape, dtype=torch.float32) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.W


class Function_D(nn.Module):
    """Divides by W."""

    def __init__(self, name: str = "swan", shape: tuple[int, ...] = (1,)) -> None:
        super().__init__()
        self.name = name
        self.W = Parameter(torch.rand(shape, dtype=torch.float32) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / self.W


class Layer_AB(nn.Module):
    """Function_A, then Function_B."""

    def __init__(self, shape: tuple[int, ...] = (1,)) -> None:
        super().__init__()
        self.a = Function_A("duck", shape)
        self.b = Function_B("goose", shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.b(self.a(x))
        return output


class Layer_CD(nn.Module):
    """Function_C, then Function_D."""

    def __init__(self, shape: tuple[int, ...] = (1,)) -> None:
        super().__init__()
        self.c = Function_C("heron", shape)
        self.d = Function_D("swan", shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.d(self.c(x))
        return output


class Model(nn.Module):
    """Layer_AB, then Layer_CD."""

    def __init__(self, shape: tuple[int, ...] = (1,)) -> None:
        super().__init__()
        self.ab = Layer_AB(shape)
        self.cd = Layer_CD(shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        output: torch.Tensor = self.cd(self.ab(x))
        return output


# What a check puts back: a wrong answer may have changed a class itself.
FORWARDS = {
    Function_A: Function_A.forward,
    Function_B: Function_B.forward,
    Function_C: Function_C.forward,
    Function_D: Function_D.forward,
}
