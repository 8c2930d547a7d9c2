"""The patients: of lesson 06 a net that a blank scan kills, of lesson 03 an ill GPT, and a report of any model's layers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from course.data import digits
from course.gpt import TinyGPT

__all__ = [
    "Reader",
    "SoundUnitLength",
    "UnitLength",
    "ill_gpt",
    "is_written",
    "layer_report",
    "scans_of_digits",
    "tensors_in",
    "train",
    "watch_tensors",
]


class UnitLength(nn.Module):
    """Scales each row to length 1. The author has even thought of a division by zero."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / (x.pow(2).sum(1, keepdim=True).sqrt() + 1e-6)


class SoundUnitLength(nn.Module):
    """The same, with the small number inside of the root."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / (x.pow(2).sum(1, keepdim=True) + 1e-6).sqrt()


class Reader(nn.Module):
    """Reads digits: two convolutions, then for each scan a vector of length 1, then the scores of ten classes."""

    def __init__(self, unit: Callable[[], nn.Module] = UnitLength) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1, bias=False),
            nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2, padding=1, bias=False),
            nn.ReLU(),
        )
        self.embed = nn.Linear(24, 32, bias=False)
        self.unit = unit()
        self.head = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.features(x).mean((2, 3))
        return self.head(10 * self.unit(self.embed(x)))


def scans_of_digits() -> tuple[torch.Tensor, torch.Tensor]:
    """1,797 scans of handwritten digits and what they show. One is blank: in your own data you would not know."""
    scans, answers = digits()
    scans[868] = 0.0
    return scans, answers


def train(net: nn.Module, scans: torch.Tensor, answers: torch.Tensor, batches: Iterable[torch.Tensor]) -> list[float]:
    """One step for each batch of scans; returns the losses."""
    optimizer, losses = torch.optim.Adam(net.parameters(), lr=0.01), []
    for batch in batches:
        loss = functional.cross_entropy(net(scans[batch]), answers[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def tensors_in(output: Any) -> list[torch.Tensor]:
    """All tensors in a module's output, in their order. Tuples, lists, dicts and dataclasses are searched to any depth."""
    parts = vars(output) if is_dataclass(output) else output
    if isinstance(parts, dict):
        parts = tuple(parts.values())
    if isinstance(parts, tuple | list):
        return list(chain.from_iterable(map(tensors_in, parts)))
    return [parts] if isinstance(parts, torch.Tensor) else []


def watch_tensors(rows: list[dict[str, Any]], name: str, module: nn.Module, args: Any, returned: Any) -> Any:
    """A forward hook: a row for each tensor in the output, and in backward the size of its gradient."""
    if torch.is_tensor(returned):
        returned = returned.clone()  # a hook on a view is lost if the view is changed in place
    for one in tensors_in(returned):
        size = (1.0 * one.detach()).abs().mean()  # times 1.0 turns a mask into numbers
        row = {"layer": name, "shape": tuple(one.shape), "output": size}
        rows.append(row)
        if one.requires_grad:
            one.register_hook(lambda grad, row=row: row.update(gradient=grad.abs().mean()))
    return returned


def layer_report(model: nn.Module, compute_loss: Callable[[], torch.Tensor]) -> None:
    """Print what each layer without children returns, and the gradient of it, while ``compute_loss()`` and backward run."""
    rows: list[dict[str, Any]] = []
    with contextlib.ExitStack() as registered:
        for name, module in model.named_modules():
            if not list(module.children()):
                registered.enter_context(
                    module.register_forward_hook(partial(watch_tensors, rows, name or "the model"))
                )
        loss = compute_loss()
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if parameters:  # a frozen model has no gradients
        torch.autograd.grad(loss, parameters, allow_unused=True)
    for row in rows:
        sizes = (f"{key} {row[key].item():<10.3g}" for key in ("output", "gradient") if key in row)
        print(f"{row['layer']:24} {row['shape']!s:16}", *sizes)


def ill_gpt() -> TinyGPT:
    """A small GPT of one block in which two things have gone wrong."""
    torch.manual_seed(0)
    gpt = TinyGPT(blocks=1)
    first, block = gpt.get_submodule("blocks.0.mlp.0"), gpt.get_submodule("blocks.0")
    with torch.no_grad():
        first.get_parameter("bias").sub_(30)
    block.get_submodule("heads.1").register_forward_hook(lambda module, args, output: output.detach())
    return gpt


def is_written(tool: Callable[..., Any], *args: Any) -> bool:
    """Whether ``tool(*args)``, a context manager, does anything; prints so if the exercise is not solved yet."""
    # A stub that `contextmanager` decorates is no generator: it returns None, and entering it raises a bare TypeError.
    if getattr(tool, "__wrapped__", tool)(*args) is not None:
        return True
    print(f"{getattr(tool, '__name__', 'the tool')} is not written yet")
    return False
