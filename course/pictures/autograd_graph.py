"""The autograd graph behind a tensor, with a badge wherever a hook hangs, and the gradients that flowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import torch
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path

from course.pictures.canvas import INK, ORANGE, PAPER, QUIET, Picture, in_own_style
from course.pictures.graph import Graph, GraphBox, Route, graph_of, uses_behind
from course.pictures.words import listed, number

__all__ = ["draw_autograd_graph", "in_short", "paint_graph"]

_LINE = "#4a5360"
_FLOW, _NOT_KEPT = "#8a3a00", "grad not kept"
_OPERATION, _LEAF, _OUTPUT, _GLOW = "#ffffff", "#d3efdc", "#fff0c2", "#ffe3c2"
_BADGES = {
    "hook": ("o", 13.5, "#c2410c", "tensor hook: runs as the gradient comes in"),
    "retain": ("s", 12.5, "#1d4ed8", "retain_grad: keeps the gradient in .grad"),
    "post": ("D", 10.5, "#7e22ce", "post-accumulate hook: runs once .grad is written"),
}


@in_own_style
def draw_autograd_graph(
    output: torch.Tensor,
    names: Mapping[str, torch.Tensor],
    gradients: Mapping[str, torch.Tensor | None] | None = None,
    changed: Iterable[torch.Tensor] = (),
) -> Picture:
    """Draw the autograd graph behind ``output``: leaves on top, ``output`` at the bottom, gradients run upwards.

    ``names`` maps names to tensors (``{"h": h, **dict(net.named_parameters())}``): their boxes show the name,
    the shape and the hooks. Tensors that are not part of the graph are left out. PyTorch lists the hooks of
    a tensor, and a graph node knows its tensor only if that is a leaf: so the hooks of leaves always show,
    those of other tensors where the tensor is named. Hooks on the nodes themselves are not listed anywhere.

    ``gradients`` maps names to gradients, as hooks catch them. Into the other boxes is written what a backward has left in
    ``.grad``: of leaves, and of named tensors that retain it. Few elements are written out, of more the norm. Nothing is
    computed, so no hook runs.

    ``changed`` are tensors that have their gradient exchanged by a hook. Everything behind them is coloured: a changed
    gradient reaches it.

    Raises ValueError where ``output`` has no graph.
    """
    if not output.requires_grad:
        raise ValueError("this tensor has no autograd graph: nothing that it was computed from requires a gradient")
    graph = graph_of(output, names)
    if gradients is not None:
        _write_gradients(graph, names, gradients)
    reached = uses_behind(changed)
    for box in graph.boxes:
        box.glows = box.node in reached
    graph.lay_out()
    left, right = graph.ends
    handles = _key_of(graph)
    half = (right - left) / 2 + 0.35
    foot = 0.15
    if handles:
        half = max(half, 2.45)
        foot = 0.1 + (0.1 + 0.25 * len(handles))
    high = foot + graph.tall + 0.15
    alt = f"Autograd graph. Gradients run from the output to the leaves: {listed(graph.in_words(), 40)}"
    glowing = [box.label or box.operation for box in graph.boxes if box.glows]
    if glowing:
        alt += f". A changed gradient comes to {listed(glowing, 40)}"
    picture = Picture(2 * half, high, alt)
    axes = picture.sheet(0, 0, 2 * half, high, (left + right) / 2 - half, -foot - graph.height / 2)
    paint_graph(axes, graph)
    if handles:
        picture.key(1, 0.15, 0.05, handles)
    return picture


def _key_of(graph: Graph) -> list[Any]:
    """The key to the badges and the colour that the graph has."""
    there = set().union(*(box.badges for box in graph.boxes))
    marks: list[Any] = [
        Line2D([], [], linestyle="none", marker=marker, markersize=9, color=colour, label=says)
        for kind, (marker, _, colour, says) in _BADGES.items()
        if kind in there
    ]
    if any(box.glows for box in graph.boxes):
        marks.append(Patch(facecolor=_GLOW, edgecolor=ORANGE, linewidth=2, label="a changed gradient comes here"))
    return marks


def _write_gradients(
    graph: Graph, names: Mapping[str, torch.Tensor], caught: Mapping[str, torch.Tensor | None]
) -> None:
    for box in graph.boxes:
        if box.leaf:
            box.gradient = f"grad {in_short(box.node.variable.grad)}"
        elif box.labels:
            box.gradient = _NOT_KEPT
    kept = {name: tensor.grad for name, tensor in names.items() if tensor.retains_grad}
    for name, gradient in {**kept, **caught}.items():
        named = graph.box_of(names[name]) if name in names else None
        if named is not None:
            named.gradient = f"grad {in_short(gradient)}"


def in_short(gradient: torch.Tensor | None) -> str:
    """``None``, ``6``, ``[1, 2.5]``; of more than four elements the norm."""
    if gradient is None:
        return "None"
    flat = gradient.detach().to_dense().flatten()
    if flat.numel() > 4 or flat.is_complex():
        return f"norm {number(float(flat.abs().double().norm()))}"
    text = ", ".join(number(float(one)) for one in flat)
    return text if flat.numel() == 1 else f"[{text}]"


def paint_graph(axes: Any, graph: Graph) -> None:
    """Arrows, boxes and badges, on axes that are measured in inches."""
    for route in graph.routes:
        _paint_edge(axes, graph, route)
    for box in graph.boxes:
        _paint_box(axes, graph, box)


def _paint_edge(axes: Any, graph: Graph, route: Route) -> None:
    """An arrow the way the gradient runs: from the consumer up to what it used."""
    points = [(box.x, box.row * graph.pitch) for box in route.boxes]
    start = _fanned(points[0], points[1], route.boxes[0].width, graph.height / 2)
    end = _fanned(points[-1], points[-2], route.boxes[-1].width, -graph.height / 2 - 0.02)
    points = [start, *points[1:-1], end]
    vertices, codes = [start], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (y1 - y0) * 0.5
        vertices += [(x0, y0 + bend), (x1, y1 - bend), (x1, y1)]
        codes += [Path.CURVE4] * 3
    style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 11, "shrinkA": 0, "shrinkB": 0, "zorder": 1}
    style |= {"linewidth": 1.3, "color": _LINE}
    if route.boxes[0].glows:
        style |= {"linewidth": 2.4, "color": ORANGE}
    axes.add_patch(FancyArrowPatch(path=Path(vertices, codes), **style))
    if route.times > 1:
        x, y = (points[0][0] + points[1][0]) / 2 + 0.08, (points[0][1] + points[1][1]) / 2
        axes.text(x, y, f"×{route.times}", fontsize=9, color=INK, va="center")


def _fanned(box: tuple[float, float], towards: tuple[float, float], width: float, edge: float) -> tuple[float, float]:
    """Where an arrow leaves a box: a little to the side that it goes to, which keeps the arrows of one box apart."""
    shift = max(-0.35, min(0.35, (towards[0] - box[0]) * 0.25))
    return box[0] + shift * min(1.0, width), box[1] + edge


def _paint_box(axes: Any, graph: Graph, box: GraphBox) -> None:
    """A box with its texts and its badges."""
    y = box.row * graph.pitch
    high = graph.height
    corner = (box.x - box.width / 2, y - high / 2)
    axes.add_patch(FancyBboxPatch(corner, box.width, high, zorder=2, **_look_of(box)))
    flow = ("normal", QUIET) if box.gradient == _NOT_KEPT else ("bold", _FLOW)
    texts = [(box.label, 9.0, "bold", INK), (box.operation, 8.0, "normal", INK), (box.gradient, 8.5, *flow)]
    lines = [line for line in texts if line[0]]
    step = 0.2 if len(lines) < 3 else 0.21
    top = y + step * (len(lines) - 1) / 2
    if len(lines) > 1:
        top += 0.01
    for place, (text, size, weight, colour) in enumerate(lines):
        style = {"fontsize": size, "weight": weight, "color": colour, "ha": "center", "va": "center", "zorder": 3}
        axes.text(box.x, top - step * place, text, **style)
    # The gradient comes in at the bottom edge; .grad of a leaf is written behind the top edge.
    incoming = [kind for kind in ("hook", "retain") if kind in box.badges]
    edge = box.x + box.width / 2 - 0.02
    for place, kind in enumerate(incoming):
        _paint_badge(axes, kind, edge - 0.25 * place, y - high / 2 - 0.03, box.badges[kind])
    if "post" in box.badges:
        _paint_badge(axes, "post", edge, y + high / 2, box.badges["post"])


def _look_of(box: GraphBox) -> dict[str, Any]:
    """The colours and the shape of a box: the output, a leaf, a box that glows, or an operation."""
    look: dict[str, Any] = {"facecolor": _OPERATION, "edgecolor": INK, "linewidth": 1.2}
    look["boxstyle"] = "round,pad=0,rounding_size=0.05"
    if box.row == 0:
        look["facecolor"] = _OUTPUT
    if box.leaf:
        look["facecolor"] = _LEAF
        look["boxstyle"] = "round,pad=0,rounding_size=0.2"
    if box.glows:
        look |= {"facecolor": _GLOW, "edgecolor": ORANGE, "linewidth": 2.4}
    return look


def _paint_badge(axes: Any, kind: str, x: float, y: float, count: int) -> None:
    marker, size, colour, _ = _BADGES[kind]
    axes.plot([x], [y], marker=marker, markersize=size, color=colour, markeredgecolor=PAPER, zorder=4)
    if count > 1:
        style = {"color": "white", "fontsize": 8, "weight": "bold", "ha": "center", "va": "center", "zorder": 5}
        axes.text(x, y - 0.005, str(count), **style)
