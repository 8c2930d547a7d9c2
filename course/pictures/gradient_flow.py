"""How large the gradient of every parameter is: where it vanishes, where it explodes, where it never came."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from matplotlib.ticker import NullLocator
from torch import nn

from course.pictures.canvas import (
    BLUE,
    FAINT,
    INK,
    MONO,
    ORANGE,
    PAPER,
    QUIET,
    Picture,
    empty_picture,
    in_own_style,
)
from course.pictures.words import cut, listed, number

__all__ = ["draw_gradient_flow"]

MAX_ROWS = 64
"""Of more parameters than this the first and the last are drawn."""


@dataclass(frozen=True)
class _Row:
    """The gradient of one parameter: mean and largest of its finite elements, and what is odd, in words."""

    name: str
    odd: str
    mean: float = 0.0
    largest: float = 0.0

    @property
    def says(self) -> str:
        sizes = f"mean {number(self.mean)}, max {number(self.largest)}" if self.largest > 0 else ""
        return ", ".join(part for part in (self.odd, sizes) if part)


@in_own_style
def draw_gradient_flow(model: nn.Module | Mapping[str, torch.Tensor | None], title: str = "Gradient flow") -> Picture:
    """Draw mean and largest ``|.grad|`` of every parameter after a backward, in the model's order, on a log scale.

    ``model`` is a module, or a mapping from names to gradients (what hooks have caught); of a mapping's parameters the
    ``.grad`` is drawn. No gradient, all zeros, NaN and infinity are written down. Nothing is changed.
    """
    given = model.named_parameters() if isinstance(model, nn.Module) else model
    values = dict[str, Any](given)
    if not values:
        return empty_picture(title, "There are no parameters.")
    names = [*values]
    note = ""
    if len(names) > MAX_ROWS:
        note = f"{len(names)} parameters: the first and the last {MAX_ROWS // 2} are drawn"
        names = [*names[: MAX_ROWS // 2], *names[-MAX_ROWS // 2 :]]
    rows = [_row(str(name), values[name]) for name in names]
    if all(row.odd.startswith("None") for row in rows):
        note = "no .grad anywhere: has backward() run?"
    words = listed((f"{row.name}: {row.says}" for row in rows), 24)
    head = f"{title}. {note}. " if note else f"{title}. "
    return _drawn(rows, title, note, f"{head}Mean and largest absolute gradient, first layers first: {words}")


def _row(name: str, value: Any) -> _Row:
    if value is not None and value.is_leaf and (value.requires_grad or isinstance(value, nn.Parameter)):
        if value.grad is None and not value.requires_grad:
            return _Row(name, "None: frozen, requires_grad is False")
        value = value.grad
    if value is None:
        return _Row(name, "None: no gradient came here")
    sizes = value.detach().abs().double().flatten()
    finite = sizes[sizes.isfinite()]
    bad = {"NaN": int(sizes.isnan().sum()), "inf": int(sizes.isinf().sum())}
    odd = ", ".join(f"{word} in {times} of {len(sizes)}" for word, times in bad.items() if times)
    if not len(finite):
        return _Row(name, odd or "no elements")
    largest = float(finite.max())
    if not odd and largest == 0:
        odd = "all zero"
    return _Row(name, odd, float(finite.mean()), largest)


def _drawn(rows: list[_Row], title: str, note: str, alt: str) -> Picture:
    names = [cut(row.name, 34) for row in rows]
    pitch, size = (0.25, 8.5) if len(rows) <= 24 else (0.18, 7.5)
    left = max(map(len, names)) * size * 0.0086 + 0.3
    high = pitch * max(len(rows), 2)
    room, right = 3.6, 0.3 + 0.0095 * size * max([16, *(len(row.says) for row in rows)])
    head = 0.72 if note else 0.5
    picture = Picture(left + room + right, head + high + 0.75, alt)
    tall = picture.titled(title)
    picture.write(0.15, tall - 0.5, note, color=QUIET)
    axes = picture.inches(left, 0.75, room, high, facecolor=PAPER)
    low = 10.0 ** (math.floor(math.log10(min([row.mean for row in rows if row.mean] or [1e-3]))) - 0.3)
    limit = 2.0 * max(row.largest for row in rows) or 1.0
    axes.barh(range(0, len(rows), 2), limit, left=low, height=1.0, color=FAINT, alpha=0.55, linewidth=0, zorder=0)
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        y = 0.75 + high * (1 - (place + 0.5) / len(rows))
        picture.write(left - 0.06, y, name, ha="right", fontsize=size, family=MONO)
        weight, colour = ("bold", ORANGE) if row.odd else ("normal", INK)
        picture.write(left + room + 0.1, y, row.says, fontsize=size - 0.5, weight=weight, color=colour)
    means = [max(row.mean, low) for row in rows]
    largest = [row.largest or math.nan for row in rows]
    wide = [mean - low for mean in means]
    axes.barh(range(len(rows)), wide, left=low, height=0.62, color=BLUE, zorder=2, label="mean |grad|")
    axes.hlines(range(len(rows)), means, largest, color=INK, linewidth=1.3, zorder=3)
    look = {"color": ORANGE, "markeredgecolor": INK, "markersize": 4.5, "zorder": 5, "label": "max |grad|"}
    axes.plot(largest, range(len(rows)), "D", **look)
    axes.set(xscale="log", xlim=(low, limit), ylim=(len(rows) - 0.5, -0.5), yticks=[])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="x", labelsize=8, colors=INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(INK)
    picture.key(2, left)
    return picture
