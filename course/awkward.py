"""Models that are not tidy: what the models of real projects are like, and the examples in lessons are not.

An exercise whose function takes any model is tried on each kind that can meet it. A probe and its truth build the same ones::

    for says, (model, x) in awkward_models(case, "tied", "called_twice").items():
        found[says] = nb.function("count_layers")(model)

Each model takes one float tensor ``x`` of shape (2, 4), unless its kind is about that, and gives a tensor, unless its kind is
about that, too. It is made of Linear layers with bias, ReLU and Tanh, unless its kind needs another, and it trains.
Which kinds there are stands in ``course.toml``, too: the contract asks each exercise about them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn

from nbproof.checks.case import Case

__all__ = [
    "KINDS",
    "awkward_models",
    "several_groups",
]


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


def _norm_in_eval() -> nn.Module:
    """Batch norm in eval mode, with statistics of its own, in a model that trains."""
    norm = nn.BatchNorm1d(5)
    norm.running_mean, norm.running_var = torch.linspace(-1, 1, 5), torch.linspace(0.5, 2, 5)
    return nn.Sequential(nn.Linear(4, 5), norm.eval(), nn.ReLU(), nn.Linear(5, 3))


def _mixed_modes() -> nn.Module:
    """A block in eval mode, in which one layer trains, in a model that trains."""
    block = nn.Sequential(nn.Linear(5, 5), nn.Dropout(0.5), nn.Sequential(nn.Tanh(), nn.Linear(5, 5))).eval()
    block[2].train()
    return nn.Sequential(nn.Linear(4, 5), nn.ReLU(), block, nn.Linear(5, 3))


def _none_place() -> nn.Module:
    """Places that are registered and hold None: for a module, a parameter and a buffer."""
    model = _Of(lambda self, x: self.leave(self.relu(self.enter(x))), enter=nn.Linear(4, 5), relu=nn.ReLU())
    model.register_module("shortcut", None)
    model.register_parameter("scale", None)
    model.register_buffer("mask", None)
    model.leave = nn.Linear(5, 3, bias=False)
    return model


class Halves(NamedTuple):
    """What a layer of :func:`_namedtuple` gives."""

    left: torch.Tensor
    right: torch.Tensor


def _namedtuple() -> nn.Module:
    """A layer inside gives a named tuple."""

    def run(self: Any, x: torch.Tensor) -> Any:
        halves = self.halve(x)
        return self.head(self.tanh(halves.left) * halves.right)

    halve = _Of(lambda self, x: Halves(*self.mix(x).chunk(2, -1)), mix=nn.Linear(4, 6))
    return _Of(run, halve=halve, tanh=nn.Tanh(), head=nn.Linear(3, 3))


def _dictionary() -> nn.Module:
    """A layer inside gives an ordered dict, as those of torchvision's segmentation nets do."""

    def run(self: Any, x: torch.Tensor) -> Any:
        named = self.name(x)
        return self.head(torch.tanh(named["out"]) + named["aux"])

    naming = _Of(lambda self, x: OrderedDict(out=self.mix(x), aux=x * 2), mix=nn.Linear(4, 4))
    return _Of(run, name=naming, head=nn.Linear(4, 3))


def _look_alike() -> nn.Module:
    """Names that begin, end, or look like others, at the top and inside."""
    layers = {"fc": nn.Linear(4, 4), "fc1": nn.Linear(4, 4), "fc10": nn.Linear(4, 4), "relu": nn.ReLU()}
    block = nn.ModuleDict({"fc": nn.Linear(4, 4), "relu1": nn.ReLU()})
    my_block = nn.Sequential(OrderedDict(fc=nn.Linear(4, 4), relu=nn.ReLU(), fc1=nn.Linear(4, 3)))

    def run(self: Any, x: torch.Tensor) -> Any:
        x = self.fc10(self.relu(self.fc1(self.fc(x))))
        return self.my_block(self.block["relu1"](self.block["fc"](x)))

    return _Of(run, **layers, block=block, my_block=my_block)


def _plain() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


@dataclass(frozen=True)
class AwkwardKind:
    """One way of not being tidy; ``says`` names it in a message, after 'in' or 'for'."""

    says: str
    build: Callable[[], nn.Module]
    shape: tuple[int, ...] = (2, 4)
    dtype: torch.dtype = torch.float32


KINDS: dict[str, AwkwardKind] = {
    "shared": AwkwardKind("a model with one layer under two names", _shared),
    "called_twice": AwkwardKind("a model that calls one layer twice", _called_twice),
    "tied": AwkwardKind("a model with tied weights", _tied),
    "partly_frozen": AwkwardKind("a model that is frozen in part", _partly_frozen),
    "in_place_behind": AwkwardKind("a model with in-place operations behind its layers", _in_place_behind, (3, 4)),
    "norm_in_eval": AwkwardKind("a model with batch norm in eval mode", _norm_in_eval, (3, 4)),
    "mixed_modes": AwkwardKind("a model whose block is in eval mode", _mixed_modes),
    "none_place": AwkwardKind("a model with places that hold None", _none_place),
    "one_dim": AwkwardKind("a model on an input without a batch", _plain, (4,)),
    "three_dim": AwkwardKind("a model on an input with three dimensions", _plain, (2, 3, 4)),
    "float64": AwkwardKind("a model in float64", lambda: _plain().double(), (2, 4), torch.float64),
    "namedtuple": AwkwardKind("a model in which a layer gives a named tuple", _namedtuple),
    "dictionary": AwkwardKind("a model in which a layer gives a dict", _dictionary),
    "look_alike": AwkwardKind("a model with names that look alike", _look_alike),
    "the_layer": AwkwardKind("a model that is one layer itself", lambda: nn.Linear(4, 3)),
}
"""What a check calls them, and how they are made."""


def awkward_models(case: Case, *kinds: str) -> dict[str, tuple[nn.Module, torch.Tensor]]:
    """The models of these kinds, each with an input that it takes; keys: what the kind is in words, for a message.

    Weights and inputs follow from the case: two calls give equal, separate models. Raises KeyError for an unknown kind.
    """
    found: dict[str, tuple[nn.Module, torch.Tensor]] = {}
    for kind in kinds:
        one = KINDS[kind]
        model: nn.Module = case.build(f"awkward {kind}", one.build)
        found[one.says] = model, case.tensor(f"awkward x {kind}", *one.shape, dtype=one.dtype)
    return found


def several_groups(model: nn.Module) -> list[dict[str, Any]]:
    """The model's parameters as an optimizer's groups, each with a learning rate and a weight decay of its own."""
    parameters = [one for one in model.parameters() if one.requires_grad]
    return [
        {"params": parameters[start::3], "lr": 0.1 * (start + 1), "weight_decay": 0.05 * start}
        for start in range(min(3, len(parameters)))
    ]
