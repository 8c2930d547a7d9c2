"""How a layer's activations spread, step after step of a training run, and how many of its values are zero.

One column a step, as in the "colourful dimension" of fast.ai's course: a histogram seen from above.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import torch

from course.pictures.canvas import FAINT, INK, ORANGE, PAPER, QUIET, RED, Picture, in_own_style
from course.pictures.words import amount, cut, listed, number, told

__all__ = ["draw_activation_histograms"]

_BINS = 40
_ENOUGH = 200_000
"""Values of one step that a histogram is made of; of more, every n-th."""


@dataclass
class _Layer:
    """What the history of one layer comes to."""

    name: str
    counts: list[torch.Tensor] = field(default_factory=list)
    zeros: list[float] = field(default_factory=list)
    """The share of exact zeros, a step."""
    low: float = 0.0
    high: float = 1.0
    broken: int | None = None
    """The first step, counted from 1, with NaN or infinity in it."""

    @property
    def says(self) -> str:
        if not self.zeros:
            return f"{self.name}: nothing recorded"
        text = f"{self.name}: {amount(len(self.zeros), 'step')}, values from {number(self.low)} to {number(self.high)}"
        text += f", zeros {self.zeros[0]:.0%}"
        if len(self.zeros) > 1:
            text += f" at first, {self.zeros[-1]:.0%} at last"
        return text + (f", NaN or inf from step {self.broken}" if self.broken else "")


@in_own_style
def draw_activation_histograms(history: Mapping[str, Iterable[torch.Tensor]], title: str | None = None) -> Picture:
    """Draw, layer by layer, how activations spread over the steps, and the share of zeros (units that are dead).

    ``history`` maps a layer's name to a list of tensors, one a step, of any shape and real dtype: what a forward hook
    has put aside. Dark is where many values are (on a log scale). Below runs the share of values that are exactly 0.
    """
    if not isinstance(history, Mapping):
        raise ValueError(f"wanted a dict {{layer name: list of tensors}}, got {told(history)}")
    layers = [_summed_up(str(name), steps) for name, steps in history.items()]
    title = title or "Activations, step by step"
    what = "For every layer a histogram of its values over the steps, and the share of zeros"
    alt = (
        f"{title}. {what}: {listed((layer.says for layer in layers), 16)}" if layers else f"{title}. Nothing recorded."
    )
    columns = min(3, max(1, len(layers)))
    rows = max(1, math.ceil(len(layers) / columns))
    wide, high = 2.85, 2.3
    picture = Picture(max(0.15 + wide * columns, 5.6), 0.55 + (high * rows + 0.3 if layers else 0.45), alt)
    tall = picture.titled(title)
    if not layers:
        picture.write(0.15, 0.3, "Nothing recorded yet: has the hook run?", fontsize=10)
        return picture
    for place, layer in enumerate(layers):
        left, bottom = 0.15 + wide * (place % columns), tall - 0.5 - high * (place // columns + 1)
        _draw_layer(picture, layer, left, bottom)
    picture.write(
        0.15,
        0.17,
        "dark = many values here (log scale)   ·   line = share of values that are exactly 0",
        fontsize=8.5,
        color=QUIET,
    )
    return picture


def _summed_up(name: str, steps: Iterable[torch.Tensor]) -> _Layer:
    if isinstance(steps, torch.Tensor):
        steps = [steps]
    if not isinstance(steps, Iterable) or isinstance(steps, (str, Mapping)):
        raise ValueError(f"wanted a list of tensors, one a step, but history[{name!r}] is {told(steps)}")
    layer, values = _Layer(name), []
    with torch.no_grad():
        for step, tensor in enumerate(steps, 1):
            if not isinstance(tensor, torch.Tensor):
                raise ValueError(f"wanted tensors, but history[{name!r}] holds {told(tensor)}")
            flat = tensor.detach().cpu().flatten()
            layer.zeros.append(float((flat == 0).double().mean()) if len(flat) else 0.0)
            flat = (flat.abs() if flat.is_complex() else flat)[:: max(1, len(flat) // _ENOUGH)].float()
            finite = flat[flat.isfinite()]
            if len(finite) < len(flat) and layer.broken is None:
                layer.broken = step
            values.append(finite)
        ends = [(float(one.min()), float(one.max())) for one in values if len(one)]
        if ends:
            layer.low, layer.high = min(low for low, _ in ends), max(high for _, high in ends)
        if layer.low == layer.high:
            layer.low, layer.high = layer.low - 0.5, layer.high + 0.5
        layer.counts = [torch.histc(one, _BINS, layer.low, layer.high) for one in values]
    return layer


def _draw_layer(picture: Picture, layer: _Layer, left: float, bottom: float) -> None:
    wide = 2.1
    picture.write(left + 0.5, bottom + 2.12, cut(layer.name, 26), fontsize=9.5, weight="bold")
    steps = len(layer.zeros)
    if not steps:
        picture.write(left + 0.5, bottom + 1.4, "nothing recorded yet:\nhas the hook run?", color=QUIET)
        return
    above = picture.inches(left + 0.5, bottom + 0.85, wide, 1.15, facecolor=PAPER)
    share = torch.stack([one / one.sum().clamp(min=1) for one in layer.counts], dim=1)
    above.imshow(
        share.add(1e-4).log10().numpy(),
        cmap="YlGnBu",
        vmin=-4,
        vmax=0,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        extent=(0.5, steps + 0.5, layer.low, layer.high),
    )
    if layer.low < 0 < layer.high:
        above.axhline(0, color=ORANGE, linewidth=0.9, linestyle=(0, (4, 2)))
    above.set_yticks([layer.low, layer.high], [number(layer.low), number(layer.high)])
    above.set_xticks([])
    if layer.broken:
        above.axvline(layer.broken - 0.5, color=RED, linewidth=1.6)
        above.text(
            0.04,
            0.9,
            f"NaN or inf from step {layer.broken}",
            transform=above.transAxes,
            fontsize=8,
            weight="bold",
            color=RED,
            va="center",
            bbox={"facecolor": PAPER, "edgecolor": RED, "pad": 2},
        )
    below = picture.inches(left + 0.5, bottom + 0.34, wide, 0.42, facecolor=PAPER)
    numbers = range(1, steps + 1)
    below.fill_between(numbers, layer.zeros, color=FAINT, step="mid")
    below.plot(numbers, layer.zeros, color=ORANGE, linewidth=1.6, marker="o", markersize=3 if steps <= 30 else 0)
    below.set(xlim=(0.5, steps + 0.5), ylim=(-0.05, 1.08))
    below.set_yticks([0, 1], ["0 %", "100 %"])
    below.set_xticks([1, steps] if steps > 1 else [1], ["step 1", str(steps)] if steps > 1 else ["step 1"])
    below.text(
        0.98,
        0.8 if layer.zeros[-1] < 0.6 else 0.2,
        f"zeros {layer.zeros[-1]:.0%}",
        transform=below.transAxes,
        ha="right",
        va="center",
        fontsize=8,
        color=INK,
    )
    for axes in (above, below):
        axes.tick_params(labelsize=7.5, colors=INK, length=2, pad=2)
        for spine in axes.spines.values():
            spine.set(edgecolor=QUIET, linewidth=0.7)
