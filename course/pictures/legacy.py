"""What the deprecated backward hook reports, next to what the full backward hook reports, for one real run."""

from __future__ import annotations

import copy
import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import torch

from course.models import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_legacy_comparison", "reported_grad_input"]

_PAPER, _INK, _WIRE, _ORANGE, _GLOW = "#fbfaf6", "#1d2733", "#6b7683", "#b8500a", "#ffe3c2"
_PLACES = {
    "x1": (0.0, 1.0),
    "x2": (0.0, -0.1),
    "first": (1.35, 0.45),
    "W": (1.35, -0.72),
    "last": (2.7, 0.1),
    "output": (3.9, 0.1),
}
_EDGES = (("x1", "first"), ("x2", "first"), ("first", "last"), ("W", "last"), ("last", "output"))
_NAMES = {"x1": "x1", "x2": "x2", "first": "x1 * x2", "W": "W", "last": "... * W", "output": "output"}


def draw_legacy_comparison(model: Model, x1: torch.Tensor, x2: torch.Tensor) -> Figure:
    """Draw ``grad_input`` of the deprecated and of the full backward hook into the graph of :class:`Model`.

    Both numbers come from a run of a copy of ``model`` on ``x1`` and ``x2`` (one element each), upstream gradient 1.
    """
    import matplotlib.pyplot as plt

    figure: Figure
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 3.9), facecolor=_PAPER, layout="constrained")
    legacy, full = reported_grad_input(model, x1, x2, legacy=True), reported_grad_input(model, x1, x2, legacy=False)
    values = {"x1": x1, "x2": x2, "W": model.W}
    _draw_graph(left, values, (2.2, -0.2, 1.0, 0.6), {("first", "last"): legacy[0], ("W", "last"): legacy[1]})
    _draw_graph(right, values, (0.72, -1.0, 2.55, 1.88), {("x1", "first"): full[0], ("x2", "first"): full[1]})
    left.set_title(
        _title("register_backward_hook (deprecated)", legacy, "its last operation"), color=_INK, fontsize=10.5
    )
    right.set_title(_title("register_full_backward_hook", full, "the whole module"), color=_INK, fontsize=10.5)
    # A closed figure is shown once, as the value of the cell, and not a second time by the front end.
    plt.close(figure)
    return figure


def reported_grad_input(model: Model, x1: torch.Tensor, x2: torch.Tensor, legacy: bool) -> tuple[torch.Tensor, ...]:
    """What one of the two hooks gets as ``grad_input`` in a run of its own. ``model`` stays as it is."""
    free = copy.deepcopy(model)
    for name, value in vars(free).items():
        # The copy has the model's own hooks; they must not run for a picture.
        if name.endswith("_hooks") and isinstance(value, OrderedDict):
            value.clear()
    free._is_full_backward_hook = None
    seen: list[tuple[torch.Tensor, ...]] = []

    def collect(module: torch.nn.Module, grad_input: Any, grad_output: Any) -> None:
        seen.append(grad_input)

    with warnings.catch_warnings(), torch.enable_grad():
        warnings.simplefilter("ignore")
        (free.register_backward_hook if legacy else free.register_full_backward_hook)(collect)
        own = [x.detach().clone().requires_grad_() for x in (x1, x2)]
        free(*own).sum().backward()
    return seen[0]


def _title(method: str, grad_input: tuple[torch.Tensor, ...], what: str) -> str:
    return f"{method}\ngrad_input = ({', '.join(_number(one) for one in grad_input)}): gradients of {what}"


def _number(tensor: torch.Tensor) -> str:
    return f"{tensor.sum().item():g}"


def _draw_graph(
    axes: Axes,
    values: dict[str, torch.Tensor],
    glow: tuple[float, float, float, float],
    gradients: dict[tuple[str, str], torch.Tensor],
) -> None:
    from matplotlib.patches import FancyBboxPatch

    x, y, width, height = glow
    axes.add_patch(
        FancyBboxPatch(
            (x, y), width, height, boxstyle="round,pad=0,rounding_size=0.12", facecolor=_GLOW, edgecolor=_ORANGE,
            linewidth=1.8, linestyle=(0, (4, 2)), zorder=0,
        )
    )  # fmt: skip
    arrow: dict[str, Any] = {"arrowstyle": "-|>", "shrinkA": 24, "shrinkB": 26, "mutation_scale": 13}
    for start, end in _EDGES:
        told = gradients.get((start, end))
        axes.annotate(
            "", _PLACES[end], _PLACES[start], arrowprops={**arrow, "color": _WIRE, "linewidth": 1.4}, zorder=1
        )
        if told is not None:
            (x0, y0), (x1, y1) = _PLACES[start], _PLACES[end]
            axes.text(
                (x0 + x1) / 2 - 0.02, (y0 + y1) / 2, f"← {_number(told)}", color="white", fontsize=11, weight="bold",
                ha="center", va="center", zorder=4,
                bbox={"boxstyle": "round,pad=0.25", "facecolor": _ORANGE, "edgecolor": "none"},
            )  # fmt: skip
    for name, place in _PLACES.items():
        text = f"{name} = {_number(values[name])}" if name in values else _NAMES[name]
        operation = name in ("first", "last")
        box = {
            "boxstyle": "round,pad=0.35" if operation else "square,pad=0.35",
            "facecolor": "#ffffff" if operation else "#d5e6fb",
            "edgecolor": _INK,
        }
        axes.text(
            *place,
            text,
            color=_INK,
            fontsize=10,
            family="DejaVu Sans Mono",
            ha="center",
            va="center",
            bbox=box,
            zorder=3,
        )
    axes.set(xlim=(-0.55, 4.45), ylim=(-1.1, 1.3), facecolor=_PAPER)
    axes.axis("off")
