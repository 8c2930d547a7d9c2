"""How large the gradient of every parameter is: where it vanishes, where it explodes, where it never came."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from course.pictures.canvas import BLUE, FAINT, INK, MONO, ORANGE, PAPER, QUIET, RED, Picture, in_own_style
from course.pictures.words import cut, listed, number, power_of_ten, told

__all__ = ["draw_gradient_flow"]

MAX_ROWS = 64
"""More parameters than this are drawn together, one row for all of a module's."""

_HUGE = 1e60
"""Gradients beyond this, and below its inverse, are drawn at the edge; their size is written down all the same."""


@dataclass(frozen=True)
class _Row:
    """The gradient of one parameter, or of several: mean and largest size, and what is odd about it, in words."""

    name: str
    mean: float = 0.0
    largest: float = 0.0
    odd: str = ""
    broken: bool = False
    """NaN or infinity is in it."""
    total: float = 0.0
    count: int = 0
    """Sum and number of the finite elements."""

    @property
    def says(self) -> str:
        sizes = f"mean {number(self.mean)}, max {number(self.largest)}" if self.largest > 0 else ""
        return ", ".join(part for part in (self.odd, sizes) if part)


@in_own_style
def draw_gradient_flow(model: nn.Module | Mapping[str, torch.Tensor | None], title: str | None = None) -> Picture:
    """Draw mean and largest ``|.grad|`` of every parameter after a backward, in the model's order, on a log scale.

    ``model`` is a module, or a mapping from names to gradients (what hooks have caught); of a mapping's parameters the
    ``.grad`` is drawn. No gradient, all zeros, NaN and infinity are written down. Nothing is changed.
    """
    if isinstance(model, nn.Module):
        what = type(model).__name__
        rows = [_of_parameter(name, value) for name, value in model.named_parameters()]
    elif isinstance(model, Mapping):
        what = "the given tensors"
        rows = [_of_value(str(name), value) for name, value in model.items()]
    else:
        raise ValueError(f"wanted a module, or a dict {{name: gradient}}, got {told(model)}")
    total = len(rows)
    rows = _together(rows)
    title = title or f"Gradient flow of {what}"
    note = "" if len(rows) == total else f"{total} parameters, drawn together by module"
    if rows and all(row.odd.startswith("None") for row in rows):
        note = "no .grad anywhere: has backward() run?"
    alt = f"{title}. " + (f"{note}. " if note else "")
    alt += "Mean and largest absolute gradient, first layers first: " if rows else "There are no parameters."
    return _drawn(rows, title, note, alt + listed((f"{row.name}: {row.says}" for row in rows), 24))


def _of_value(name: str, value: Any) -> _Row:
    if value is not None and not isinstance(value, torch.Tensor):
        raise ValueError(f"wanted gradients, tensors or None, but {name!r} is {told(value)}")
    if value is not None and value.is_leaf and value.requires_grad:
        return _of_parameter(name, value)
    return _of_gradient(name, value)


def _of_parameter(name: str, parameter: torch.Tensor) -> _Row:
    if is_lazy(parameter):
        return _Row(name, odd="None: not initialized yet")
    if parameter.grad is None and not parameter.requires_grad:
        return _Row(name, odd="None: frozen, requires_grad is False")
    return _of_gradient(name, parameter.grad)


def _of_gradient(name: str, gradient: torch.Tensor | None) -> _Row:
    if gradient is None:
        return _Row(name, odd="None: no gradient came here")
    with torch.no_grad():
        count = gradient.numel()
        plain = gradient.detach()
        values = (plain.coalesce().values() if plain.is_sparse else plain).abs().double().flatten()
        if not count:
            return _Row(name, odd="no elements")
        finite = values[values.isfinite()]
        nans, infinite = int(values.isnan().sum()), int(values.isinf().sum())
        total = float(finite.sum())
        largest = float(finite.max()) if len(finite) else 0.0
    odd = ", ".join(
        f"{word} in {bad} of {count}" if count > 1 else word for word, bad in (("NaN", nans), ("inf", infinite)) if bad
    )
    if not odd and largest == 0:
        odd = "all zero"
    return _Row(name, total / max(len(finite), 1), largest, odd, bool(nans or infinite), total, len(finite))


def _together(rows: list[_Row]) -> list[_Row]:
    """Few enough rows: names cut at the deepest level at which there are no more than MAX_ROWS."""
    if len(rows) <= MAX_ROWS:
        return rows
    for depth in range(max(row.name.count(".") for row in rows), 0, -1):
        groups: dict[str, list[_Row]] = {}
        for row in rows:
            groups.setdefault(".".join(row.name.split(".")[:depth]), []).append(row)
        if len(groups) <= MAX_ROWS:
            return [_merged(name, group) for name, group in groups.items()]
    part = math.ceil(len(rows) / MAX_ROWS)
    return [
        _merged(f"{rows[at].name} …", rows[at : at + part]) if part > 1 else rows[at]
        for at in range(0, len(rows), part)
    ]


def _merged(name: str, rows: list[_Row]) -> _Row:
    if len(rows) == 1:
        return rows[0]
    counts: dict[str, int] = {}
    for row in rows:
        if row.odd:
            word = row.odd.split(":")[0].split(" in ")[0]
            counts[word] = counts.get(word, 0) + 1
    odd = ", ".join(f"{word} in {count} of {len(rows)} parameters" for word, count in counts.items())
    total, count = sum(row.total for row in rows), sum(row.count for row in rows)
    largest = max(row.largest for row in rows)
    return _Row(name, total / max(count, 1), largest, odd, any(row.broken for row in rows), total, count)


def _drawn(rows: list[_Row], title: str, note: str, alt: str) -> Picture:
    from matplotlib.ticker import NullLocator

    names = [cut(row.name, 34) for row in rows]
    pitch = 0.25 if len(rows) <= 24 else 0.18
    size = 8.5 if len(rows) <= 24 else 7.5
    left = max([0.0, *(len(name) for name in names)]) * size * 0.0086 + 0.3
    top = 0.72 if note else 0.5
    high = pitch * max(len(rows), 2)
    room, right = 3.6, 0.3 + 0.0095 * size * max([16, *(len(row.says) for row in rows)])
    picture = Picture(left + room + right, top + high + 0.75, alt)
    tall = picture.titled(title)
    if note:
        picture.write(0.15, tall - 0.5, note, color=QUIET)
    axes = picture.inches(left, 0.75, room, high, facecolor=PAPER)
    if not rows:
        axes.axis("off")
        picture.write(left, 0.75 + high / 2, "There are no parameters here.", fontsize=10)
        return picture
    low, limit = _limits(rows)
    axes.barh(range(0, len(rows), 2), limit, left=low, height=1.0, color=FAINT, alpha=0.55, linewidth=0, zorder=0)
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        y = 0.75 + high * (1 - (place + 0.5) / len(rows))
        picture.write(left - 0.06, y, name, ha="right", fontsize=size, family=MONO)
        picture.write(
            left + room + 0.1,
            y,
            row.says,
            fontsize=size - 0.5,
            weight="bold" if row.odd else "normal",
            color=RED if row.broken else ORANGE if row.odd else INK,
        )
    _bars(axes, rows, low)
    axes.set(xscale="log", xlim=(low, limit), ylim=(len(rows) - 0.5, -0.5))
    axes.xaxis.set_major_formatter(lambda value, _: power_of_ten(value))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="x", labelsize=8, colors=INK)
    axes.set_yticks([])
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(INK)
    _legend(picture, left)
    return picture


def _bars(axes: Any, rows: list[_Row], low: float) -> None:
    """Bars, diamonds and the marks of what is odd, each kind at once."""
    flowing = [(place, row) for place, row in enumerate(rows) if row.largest > 0]
    if flowing:
        places = [place for place, _ in flowing]
        means = [min(max(row.mean, low), _HUGE) for _, row in flowing]
        largest = [min(max(row.largest, low), _HUGE) for _, row in flowing]
        axes.barh(places, [mean - low for mean in means], left=low, height=0.62, color=BLUE, zorder=2)
        axes.hlines(places, means, largest, color=INK, linewidth=1.3, zorder=3)
        axes.plot(largest, places, "D", color=ORANGE, markeredgecolor=INK, markersize=4.5, zorder=4, linestyle="none")
    for broken, marker, face, edge in ((True, "X", RED, PAPER), (False, "o", PAPER, ORANGE)):
        marked = [place for place, row in enumerate(rows) if row.odd and row.broken is broken]
        axes.plot(
            [0.012] * len(marked),
            marked,
            marker,
            transform=axes.get_yaxis_transform(),
            clip_on=False,
            markersize=7,
            color=face,
            markeredgecolor=edge,
            zorder=5,
            linestyle="none",
        )


def _limits(rows: list[_Row]) -> tuple[float, float]:
    sizes = [min(max(size, 1 / _HUGE), _HUGE) for row in rows for size in (row.mean, row.largest) if size > 0]
    if not sizes:
        return 1e-3, 1.0
    low = 10.0 ** (math.floor(math.log10(min(sizes))) - 0.3)
    return low, max(sizes) * 2.0


def _legend(picture: Picture, left: float) -> None:
    """What bar, diamond and ring stand for."""
    axes = picture.sheet(left, 0.08, 5.4, 0.26)
    axes.barh(0.13, 0.3, height=0.12, color=BLUE)
    axes.text(0.38, 0.13, "mean |grad|", va="center", fontsize=8.5, color=INK)
    axes.plot([1.4, 1.7], [0.13, 0.13], color=INK, linewidth=1.3)
    axes.plot([1.7], [0.13], "D", color=ORANGE, markeredgecolor=INK, markersize=4.5)
    axes.text(1.82, 0.13, "max |grad|", va="center", fontsize=8.5, color=INK)
    axes.plot([2.85], [0.13], "o", color=PAPER, markeredgecolor=ORANGE, markersize=7)
    axes.text(2.97, 0.13, "none or zero", va="center", fontsize=8.5, color=INK)
    axes.plot([4.0], [0.13], "X", color=RED, markeredgecolor=PAPER, markersize=7)
    axes.text(4.12, 0.13, "NaN or inf", va="center", fontsize=8.5, color=INK)
