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
    "bare_model",
    "hooked_model",
    "own_parameter_model",
    "several_groups",
    "whole_numbers_model",
]


class _Shared(nn.Module):
    """One layer under two names, in two places, each of which runs."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.relu = nn.ReLU()
        self.body = nn.Sequential(nn.Linear(4, 4), self.relu, self.first)
        self.head = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(self.relu(self.first(x))))  # type: ignore[no-any-return]


class _CalledTwice(nn.Module):
    """One layer under one name, which runs twice, each time on another input."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.mix, self.leave = nn.Linear(4, 5), nn.Linear(5, 5), nn.Linear(5, 3)
        self.tanh = nn.Tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.tanh(self.mix(self.enter(x)))
        return self.leave(self.tanh(self.mix(x)))  # type: ignore[no-any-return]


class _Tied(nn.Module):
    """Two layers, one weight: a decoder that uses the weight of the encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.tanh = nn.Linear(4, 4), nn.Tanh()
        self.decoder = nn.Linear(4, 4)
        self.decoder.weight = self.encoder.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.tanh(self.encoder(x)))  # type: ignore[no-any-return]


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


class _NonePlace(nn.Module):
    """Places that are registered and hold None: for a module, a parameter and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.enter, self.relu = nn.Linear(4, 5), nn.ReLU()
        self.register_module("shortcut", None)
        self.register_parameter("scale", None)
        self.register_buffer("mask", None)
        self.leave = nn.Linear(5, 3, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.leave(self.relu(self.enter(x)))  # type: ignore[no-any-return]


class Halves(NamedTuple):
    """What :class:`_Halving` gives."""

    left: torch.Tensor
    right: torch.Tensor


class _Halving(nn.Module):
    """A layer whose output is a named tuple."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 6)

    def forward(self, x: torch.Tensor) -> Halves:
        return Halves(*self.mix(x).chunk(2, -1))


class _NamedTuple(nn.Module):
    """A layer inside gives a named tuple."""

    def __init__(self) -> None:
        super().__init__()
        self.halve, self.tanh, self.head = _Halving(), nn.Tanh(), nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        halves = self.halve(x)
        return self.head(self.tanh(halves.left) * halves.right)  # type: ignore[no-any-return]


class _Naming(nn.Module):
    """A layer whose output is an ordered dict, as those of torchvision's segmentation nets are."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> OrderedDict[str, torch.Tensor]:
        return OrderedDict(out=self.mix(x), aux=x * 2)


class _Dictionary(nn.Module):
    """A layer inside gives an ordered dict."""

    def __init__(self) -> None:
        super().__init__()
        self.name, self.head = _Naming(), nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        named = self.name(x)
        return self.head(torch.tanh(named["out"]) + named["aux"])  # type: ignore[no-any-return]


class _LookAlike(nn.Module):
    """Names that begin, end, or look like others, at the top and inside."""

    def __init__(self) -> None:
        super().__init__()
        self.fc, self.fc1, self.fc10, self.relu = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.ReLU()
        self.block = nn.ModuleDict({"fc": nn.Linear(4, 4), "relu1": nn.ReLU()})
        self.my_block = nn.Sequential(OrderedDict(fc=nn.Linear(4, 4), relu=nn.ReLU(), fc1=nn.Linear(4, 3)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.fc10(self.relu(self.fc1(self.fc(x))))
        return self.my_block(self.block["relu1"](self.block["fc"](x)))  # type: ignore[no-any-return]


def _plain() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


@dataclass(frozen=True)
class AwkwardKind:
    """One way of not being tidy."""

    says: str
    """In a message, after 'in' or 'for'."""
    build: Callable[[], nn.Module]
    shape: tuple[int, ...] = (2, 4)
    dtype: torch.dtype = torch.float32


KINDS: dict[str, AwkwardKind] = {
    "shared": AwkwardKind("a model with one layer under two names", _Shared),
    "called_twice": AwkwardKind("a model that calls one layer twice", _CalledTwice),
    "tied": AwkwardKind("a model with tied weights", _Tied),
    "partly_frozen": AwkwardKind("a model that is frozen in part", _partly_frozen),
    "in_place_behind": AwkwardKind("a model with in-place operations behind its layers", _in_place_behind, (3, 4)),
    "norm_in_eval": AwkwardKind("a model with batch norm in eval mode", _norm_in_eval, (3, 4)),
    "mixed_modes": AwkwardKind("a model whose block is in eval mode", _mixed_modes),
    "none_place": AwkwardKind("a model with places that hold None", _NonePlace),
    "one_dim": AwkwardKind("a model on an input without a batch", _plain, (4,)),
    "three_dim": AwkwardKind("a model on an input with three dimensions", _plain, (2, 3, 4)),
    "float64": AwkwardKind("a model in float64", lambda: _plain().double(), (2, 4), torch.float64),
    "namedtuple": AwkwardKind("a model in which a layer gives a named tuple", _NamedTuple),
    "dictionary": AwkwardKind("a model in which a layer gives a dict", _Dictionary),
    "look_alike": AwkwardKind("a model with names that look alike", _LookAlike),
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


class _Places(nn.Module):
    """A layer whose output is whole numbers."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.argsort(-1)


def hooked_model(case: Case) -> dict[str, tuple[nn.Module, torch.Tensor]]:
    """A model on which somebody's hook doubles what it is given: ``model(x)`` runs this hook, ``model.forward(x)`` does not."""

    def build() -> nn.Module:
        model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
        model.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
        return model

    return {
        "a model with a hook of its owner": (case.build("hooked", build), case.tensor("x for the hooked one", 2, 4))
    }


def whole_numbers_model(case: Case) -> dict[str, tuple[nn.Module, torch.Tensor]]:
    """A model in which a layer gives whole numbers, and the next one, an Embedding, looks them up."""
    model: nn.Module = case.build("whole", lambda: nn.Sequential(nn.Linear(4, 5), _Places(), nn.Embedding(5, 3)))
    return {"a model in which a layer gives whole numbers": (model, case.tensor("x for whole numbers", 2, 4))}


class _Positive(nn.Module):
    """A layer without parameters, which gives true or false."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x > 0


def bare_model(case: Case) -> dict[str, tuple[nn.Module, torch.Tensor]]:
    """A model without any parameter to ask for a device or a dtype; it gives true and false."""
    model = nn.Sequential(nn.Tanh(), _Positive(), nn.Flatten())
    return {"a model without parameters": (model, case.tensor("x without parameters", 2, 4))}


class _Shift(nn.Module):
    """A layer that puts out its own parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.by = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.by


def own_parameter_model(case: Case) -> dict[str, tuple[nn.Module, torch.Tensor]]:
    """A model whose last layer gives a parameter itself, so a leaf of the graph."""
    model: nn.Module = case.build("shift", lambda: nn.Sequential(nn.Linear(4, 3), _Shift()))
    return {"a model in which a layer gives its parameter": (model, case.tensor("x for shift", 2, 4))}


def several_groups(model: nn.Module) -> list[dict[str, Any]]:
    """The model's parameters as an optimizer's groups, each with a learning rate and a weight decay of its own."""
    parameters = [one for one in model.parameters() if one.requires_grad]
    return [
        {"params": parameters[start::3], "lr": 0.1 * (start + 1), "weight_decay": 0.05 * start}
        for start in range(min(3, len(parameters)))
    ]
