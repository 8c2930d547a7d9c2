"""Models that are not tidy, as those of real projects are: each with an input that it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


class _Of(nn.Module):
    """A model of these layers, which runs as the function says that gets it and its input."""

    def __init__(self, run: Callable[[Any, torch.Tensor], Any], **layers: nn.Module) -> None:
        super().__init__()
        self.run = run
        for name, layer in layers.items():
            super().add_module(name, layer)

    def forward(self, x: torch.Tensor) -> Any:
        return self.run(self, x)


def _shared() -> nn.Module:
    """One layer under two names, in two places, each of which runs."""
    first, relu = nn.Linear(4, 4), nn.ReLU()
    body = nn.Sequential(nn.Linear(4, 4), relu, first)
    layers = {"first": first, "relu": relu, "body": body, "head": nn.Linear(4, 3)}
    return _Of(lambda self, x: self.head(self.body(self.relu(self.first(x)))), **layers)


def _called_twice() -> nn.Module:
    """One layer under one name, which runs twice, each time on another input."""
    layers = {"enter": nn.Linear(4, 5), "mix": nn.Linear(5, 5), "leave": nn.Linear(5, 3), "tanh": nn.Tanh()}

    def run(self: Any, x: torch.Tensor) -> Any:
        x = self.tanh(self.mix(self.enter(x)))
        return self.leave(self.tanh(self.mix(x)))

    return _Of(run, **layers)


def _tied() -> nn.Module:
    """Two layers, one weight: a decoder that uses the weight of the encoder."""
    layers = {"encoder": nn.Linear(4, 4), "tanh": nn.Tanh(), "decoder": nn.Linear(4, 4)}
    layers["decoder"].weight = layers["encoder"].weight
    return _Of(lambda self, x: self.decoder(self.tanh(self.encoder(x))), **layers)


def _partly_frozen() -> nn.Module:
    """The first layer is frozen, and the bias of the last one."""
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 5), nn.ReLU(), nn.Linear(5, 3))
    model[0].requires_grad_(False)
    model[4].bias.requires_grad_(False)
    return model


def _in_place_behind() -> nn.Module:
    """What follows each layer overwrites its output."""
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(inplace=True), nn.Linear(5, 3), nn.ELU(inplace=True))


def _mixed_modes() -> nn.Module:
    """A block in eval mode, in which one layer trains, in a model that trains."""
    block = nn.Sequential(nn.Linear(5, 5), nn.Dropout(0.5), nn.Sequential(nn.Tanh(), nn.Linear(5, 5))).eval()
    block[2].train()
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), block, nn.Linear(5, 3))


MODELS: dict[str, Callable[[], nn.Module]] = {
    "shared": _shared,
    "called twice": _called_twice,
    "tied": _tied,
    "partly frozen": _partly_frozen,
    "in place": _in_place_behind,
    "mixed modes": _mixed_modes,
}
