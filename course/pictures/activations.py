"""How a layer's activations spread, step after step of a training run, and how many of its values are zero.

One column a step, as in the "colourful dimension" of fast.ai's course: a histogram seen from above.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import torch

from course.pictures.canvas import FAINT, INK, ORANGE, PAPER, QUIET, RED, Picture, empty_picture, in_own_style
from course.pictures.words import cut, listed, number, real, span
from nbproof.text import counted

__all__ = ["draw_activation_histograms"]

_BINS = 40
_WIDE, _HIGH = 2.85, 2.3


class _Layer:
    """What the history of one layer comes to, step by step: the values that are numbers, and the share of exact zeros."""

    def __init__(self, name: str, steps: Iterable[torch.Tensor]) -> None:
        flat = [real(step).flatten() for step in steps]
        self.name = name
        self.values = [one[one.isfinite()] for one in flat]
        self.zeros = [float((one == 0).double().mean().nan_to_num()) for one in flat]
        lost = [at for at, one in enumerate(flat) if not one.isfinite().all()]
        self.broken = f"NaN or inf from step {lost[0]}" if lost else ""
        low, high = span(torch.cat(self.values or [torch.zeros(1)]))
        self.ends = (low, high) if low < high else (low - 0.5, high + 0.5)

    @property
    def says(self) -> str:
        if not self.zeros:
            return f"{self.name}: nothing recorded"
        steps = counted(len(self.zeros), "step")
        low, high = map(number, self.ends)
        shares = f"zeros {_share(self.zeros[0])} at first, {_share(self.zeros[-1])} at last"
        return ", ".join(
            [f"{self.name}: {steps}", f"values from {low} to {high}", shares] + [self.broken] * bool(self.broken)
        )


@in_own_style
def draw_activation_histograms(
    history: Mapping[str, Iterable[torch.Tensor]], title: str = "Activations, step by step"
) -> Picture:
    """Draw, layer by layer, how activations spread over the steps, and the share of zeros (units that are dead).

    ``history`` maps a layer's name to a list of tensors, one a step, of any shape and real dtype: what a forward hook
    has put aside. Dark is where many values are (on a log scale). Below runs the share of values that are exactly 0.
    """
    layers = [_Layer(str(name), steps) for name, steps in history.items()]
    if not layers:
        return empty_picture(title, "Nothing recorded: has the hook run?")
    what = "For every layer a histogram of its values over the steps, and the share of zeros"
    columns, rows = min(3, len(layers)), math.ceil(len(layers) / 3)
    alt = f"{title}. {what}: {listed((layer.says for layer in layers), 16)}"
    picture = Picture(max(0.15 + _WIDE * columns, 5.6), 0.85 + _HIGH * rows, alt)
    below = "dark = many values here (log scale)   ·   line = share of values that are exactly 0"
    tall = picture.titled(title, below)
    for place, layer in enumerate(layers):
        left, bottom = 0.65 + _WIDE * (place % 3), tall - 0.5 - _HIGH * (place // 3 + 1)
        picture.write(left, bottom + 2.12, cut(layer.name, 26), fontsize=9.5, weight="bold")
        if layer.zeros:
            _draw_layer(picture, layer, left, bottom)
        else:
            picture.write(left, bottom + 1.4, "nothing recorded yet:\nhas the hook run?", color=QUIET)
    return picture


def _share(share: float) -> str:
    """A share in per cent; 100 % and 0 % say that it is just that."""
    whole = f"{share:.0%}"
    return whole if share in (0, 1) or whole not in ("0%", "100%") else f"{share:.2%}"


def _draw_layer(picture: Picture, layer: _Layer, left: float, bottom: float) -> None:
    steps = len(layer.zeros)
    above = picture.inches(left, bottom + 0.85, 2.1, 1.15, facecolor=PAPER)
    below = picture.inches(left, bottom + 0.34, 2.1, 0.42, facecolor=PAPER)
    low, high = layer.ends
    counts = [torch.histc(one, _BINS, low, high) for one in layer.values]
    share = torch.stack([one / one.sum().clamp(min=1) for one in counts], dim=1).add(1e-4).log10()
    place = {"origin": "lower", "aspect": "auto", "extent": (-0.5, steps - 0.5, low, high)}
    above.imshow(share.numpy(), cmap="YlGnBu", vmin=-3, vmax=0, interpolation="nearest", **place)
    if low < 0 < high:
        above.axhline(0, color=ORANGE, linewidth=0.9, linestyle=(0, (4, 2)))
    above.set_yticks([low, high], [number(low), number(high)])
    above.set_xticks([])
    small = {"fontsize": 8, "va": "center"}
    style = {**small, "weight": "bold", "color": RED, "backgroundcolor": PAPER}
    above.text(0.04, 0.9, layer.broken, transform=above.transAxes, **style)
    numbers, last = range(steps), layer.zeros[-1]
    below.fill_between(numbers, layer.zeros, color=FAINT, step="mid")
    dots = 3 if steps <= 30 else 0
    below.plot(numbers, layer.zeros, color=ORANGE, linewidth=1.6, marker="o", markersize=dots)
    below.set(xlim=(-0.5, steps - 0.5), ylim=(-0.05, 1.08))
    below.set_yticks([0, 1], ["0 %", "100 %"])
    ticks = [0, *range(20, steps - 10, 20), steps - 1][:steps]
    below.set_xticks(ticks, ["step 0", *map(str, ticks[1:])])
    words = {**small, "ha": "right", "color": INK, "transform": below.transAxes}
    high_up = 0.8 if last < 0.6 else 0.2
    below.text(0.98, high_up, f"zeros {_share(last)}", **words)
    for axes in (above, below):
        axes.tick_params(labelsize=7.5, colors=INK, length=2, pad=2)
        axes.spines[:].set(edgecolor=QUIET, linewidth=0.7)
