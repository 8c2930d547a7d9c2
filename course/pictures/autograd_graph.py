"""The autograd graph behind a tensor, with a badge wherever a hook hangs.

The graph is the real one: the drawing walks ``grad_fn.next_functions`` from the output to the leaves.
Layout: a node stands one row above the lowest row of those that use it, long edges bend around the
boxes between (the layered layout of Sugiyama, Tagawa and Toda, without its finer points).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd.graph import get_gradient_edge

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_autograd_graph"]

_PAPER, _INK, _LINE = "#fbfaf6", "#1b1f24", "#4a5360"
_OPERATION, _LEAF, _OUTPUT = "#ffffff", "#d3efdc", "#fff0c2"
_BADGES = {
    "hook": ("o", "#c2410c", "tensor hook: runs as the gradient comes in"),
    "retain": ("s", "#1d4ed8", "retain_grad: keeps the gradient in .grad"),
    "post": ("D", "#7e22ce", "post-accumulate hook: runs once .grad is written"),
}
_ROW, _GAP, _HEIGHT = 0.86, 0.26, 0.5  # inches: from row to row, between boxes, of a box
_DUMMY_WIDTH = 0.12


@dataclass
class _Box:
    """A node of the graph, or a bend of an edge that passes this row."""

    node: Any = None
    """The autograd node; None for a bend."""
    labels: list[str] = field(default_factory=list)
    leaf: bool = False
    badges: dict[str, int] = field(default_factory=dict)
    row: int = 0
    """0 is the output's row; the leaves have the highest numbers, and stand on top."""
    x: float = 0.0
    below: list[_Box] = field(default_factory=list)
    above: list[_Box] = field(default_factory=list)

    @property
    def width(self) -> float:
        if self.node is None:
            return _DUMMY_WIDTH
        letters = max(len(self.operation) * 0.9, len(" = ".join(self.labels)))
        return float(0.3 + 0.076 * letters)

    @property
    def operation(self) -> str:
        """``MulBackward0``; C++ spells one of them torch::autograd::AccumulateGrad."""
        return str(self.node.name()).rsplit("::", 1)[-1]


def draw_autograd_graph(
    output: torch.Tensor, names: Mapping[str, torch.Tensor] | None = None, title: str | None = None
) -> Figure:
    """Draw the autograd graph behind ``output``: leaves on top, ``output`` at the bottom, gradients run upwards.

    ``names`` maps names to tensors (``{"h": h, **dict(net.named_parameters())}``): their boxes show the name,
    the shape and the hooks. Tensors that are not part of the graph are left out. PyTorch lists the hooks of
    a tensor, and a graph node knows its tensor only if that is a leaf: so the hooks of leaves always show,
    those of other tensors where the tensor is named. Hooks on the nodes themselves are not listed anywhere.

    Raises ValueError where ``output`` has no graph.
    """
    import matplotlib.pyplot as plt

    if not output.requires_grad:
        raise ValueError("this tensor has no autograd graph: nothing that it was computed from requires a gradient")
    rows, edges = _laid_out(*_walk(output, dict(names or {})))
    boxes = [box for row in rows for box in row]
    left = min(box.x - box.width / 2 for box in boxes) - 0.35
    right = max(box.x + box.width / 2 for box in boxes) + 0.35
    kinds = [kind for kind in _BADGES if any(kind in box.badges for box in boxes)]
    if kinds:
        middle, half = (left + right) / 2, max((right - left) / 2, 2.1)
        left, right = middle - half, middle + half
    bottom, top = (
        -0.4 - (0.1 + 0.25 * len(kinds) if kinds else 0.0),
        (len(rows) - 1) * _ROW + 0.45 + (0.35 if title else 0.0),
    )

    figure: Figure = plt.figure(figsize=(right - left, top - bottom), dpi=110, facecolor=_PAPER)
    plt.close(figure)  # the notebook shows what a cell returns; an open figure would show a second time
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.axis("off")
    for route, times in edges:
        _draw_edge(axes, route, times)
    for box in boxes:
        if box.node is not None:
            _draw_box(axes, box)
    for number, kind in enumerate(kinds):
        _draw_badge(axes, kind, left + 0.3, -0.5 - 0.25 * number, 1)
        axes.text(left + 0.48, -0.5 - 0.25 * number, _BADGES[kind][2], va="center", fontsize=8.5, color=_INK)
    if title:
        middle = (left + right) / 2
        axes.text(middle, top - 0.2, title, ha="center", va="center", fontsize=11, weight="bold", color=_INK)
    return figure


def _walk(output: torch.Tensor, names: dict[str, torch.Tensor]) -> tuple[list[_Box], dict[tuple[int, int], int]]:
    """The boxes, consumers before what they use, and how often each (consumer, used) pair occurs."""
    root = get_gradient_edge(output).node
    boxes: dict[Any, _Box] = {}
    finished: list[_Box] = []
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            finished.append(boxes[node])
        elif node not in boxes:
            boxes[node] = _Box(node)
            stack.append((node, True))
            stack += [(used, False) for used, _ in node.next_functions if used is not None and used not in boxes]
    order = finished[::-1]
    number = {box.node: index for index, box in enumerate(order)}
    times: dict[tuple[int, int], int] = {}
    for box in order:
        for used, _ in box.node.next_functions:
            if used is not None:
                pair = number[box.node], number[used]
                times[pair] = times.get(pair, 0) + 1
    _name(boxes, output, names)
    return order, times


def _name(boxes: dict[Any, _Box], output: torch.Tensor, names: dict[str, torch.Tensor]) -> None:
    """Write names, shapes and hooks on the boxes."""
    if not any(tensor is output for tensor in names.values()):
        names = {**names, "output": output}
    seen: set[int] = set()
    for name, tensor in names.items():
        box = boxes.get(get_gradient_edge(tensor).node) if tensor.requires_grad else None
        if box is None:
            continue
        box.labels.append(f"{name} {_shape(tensor)}")
        if id(tensor) not in seen:
            _count_hooks(box, tensor)
        seen.add(id(tensor))
    for node, box in boxes.items():
        variable = getattr(node, "variable", None)
        if variable is not None:
            box.leaf = True
            if not box.labels:
                box.labels.append(f"leaf {_shape(variable)}")
                _count_hooks(box, variable)


def _count_hooks(box: _Box, tensor: torch.Tensor) -> None:
    found = {
        "hook": len(tensor._backward_hooks or {}),
        "retain": int(tensor.retains_grad),
        "post": len(getattr(tensor, "_post_accumulate_grad_hooks", None) or {}),
    }
    for kind, count in found.items():
        if count:
            box.badges[kind] = box.badges.get(kind, 0) + count


def _shape(tensor: torch.Tensor) -> str:
    return str(tuple(tensor.shape))


def _laid_out(
    order: list[_Box], times: dict[tuple[int, int], int]
) -> tuple[list[list[_Box]], list[tuple[list[_Box], int]]]:
    """Give every box its row and x. Returns the rows, and each edge as the boxes and bends it passes."""
    for consumer, used in times:
        order[used].row = max(order[used].row, order[consumer].row + 1)
    rows: list[list[_Box]] = [[] for _ in range(max(box.row for box in order) + 1)]
    for box in order:
        rows[box.row].append(box)
    edges = []
    for (consumer, used), count in times.items():
        route = [order[consumer]]
        for number in range(order[consumer].row + 1, order[used].row):
            bend = _Box(row=number)
            rows[number].append(bend)
            route.append(bend)
        route.append(order[used])
        for low, high in pairwise(route):
            low.above.append(high)
            high.below.append(low)
        edges.append((route, count))
    for row in rows:
        _spread(row, [0.0] * len(row))
    for _ in range(6):
        for row in rows[1:]:
            row.sort(key=lambda box: _mean(box.below, box.x))
            _spread(row, [_mean(box.below, box.x) for box in row])
        for row in rows[-2::-1]:
            row.sort(key=lambda box: _mean(box.above, box.x))
            _spread(row, [_mean(box.above, box.x) for box in row])
    for row in rows:
        _spread(row, [_mean(box.below + box.above, box.x) for box in row])
    return rows, edges


def _mean(boxes: list[_Box], otherwise: float) -> float:
    return sum(box.x for box in boxes) / len(boxes) if boxes else otherwise


def _spread(row: list[_Box], wishes: list[float]) -> None:
    """Put the boxes of a row near their wishes, in this order and without overlap."""
    space = [(one.width + other.width) / 2 + _GAP for one, other in pairwise(row)]
    rightwards, leftwards = list(wishes), list(wishes)
    for index, gap in enumerate(space):
        rightwards[index + 1] = max(rightwards[index + 1], rightwards[index] + gap)
    for index, gap in reversed(list(enumerate(space))):
        leftwards[index] = min(leftwards[index], leftwards[index + 1] - gap)
    for box, one, other in zip(row, rightwards, leftwards, strict=True):
        box.x = (one + other) / 2


def _draw_edge(axes: Axes, route: list[_Box], times: int) -> None:
    """An arrow the way the gradient runs: from the consumer up to what it used."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    points = [(box.x, box.row * _ROW) for box in route]
    # Fanning out at the consumer keeps the arrows of one box apart.
    first, last = route[0], route[-1]
    shift = max(-0.35, min(0.35, (points[1][0] - points[0][0]) * 0.25)) * min(1.0, first.width)
    points[0] = (points[0][0] + shift, points[0][1] + _HEIGHT / 2)
    shift = max(-0.35, min(0.35, (points[-2][0] - points[-1][0]) * 0.25)) * min(1.0, last.width)
    points[-1] = (points[-1][0] + shift, points[-1][1] - _HEIGHT / 2 - 0.02)
    vertices, codes = [points[0]], [Path.MOVETO]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (y1 - y0) * 0.5
        vertices += [(x0, y0 + bend), (x1, y1 - bend), (x1, y1)]
        codes += [Path.CURVE4] * 3
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 11,
        "linewidth": 1.3,
        "color": _LINE,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    axes.add_patch(FancyArrowPatch(path=Path(vertices, codes), zorder=1, **style))
    if times > 1:
        x, y = (points[0][0] + points[1][0]) / 2 + 0.08, (points[0][1] + points[1][1]) / 2
        axes.text(x, y, f"×{times}", fontsize=9, color=_INK, va="center")


def _draw_box(axes: Axes, box: _Box) -> None:
    from matplotlib.patches import FancyBboxPatch

    y = box.row * _ROW
    paint = _LEAF if box.leaf else _OUTPUT if box.row == 0 else _OPERATION
    shape = "round,pad=0,rounding_size=0.2" if box.leaf else "round,pad=0,rounding_size=0.05"
    corner = (box.x - box.width / 2, y - _HEIGHT / 2)
    axes.add_patch(
        FancyBboxPatch(
            corner, box.width, _HEIGHT, boxstyle=shape, facecolor=paint, edgecolor=_INK, linewidth=1.2, zorder=2
        )
    )
    label = " = ".join(box.labels)
    if label:
        axes.text(box.x, y + 0.11, label, ha="center", va="center", fontsize=9, weight="bold", color=_INK, zorder=3)
    low = y - 0.09 if label else y
    axes.text(box.x, low, box.operation, ha="center", va="center", fontsize=8, color=_INK, zorder=3)
    # The gradient comes in at the bottom edge; .grad of a leaf is written behind the top edge.
    edge = box.x + box.width / 2
    incoming = [kind for kind in ("hook", "retain") if kind in box.badges]
    for number, kind in enumerate(incoming):
        _draw_badge(axes, kind, edge - 0.02 - 0.25 * number, y - _HEIGHT / 2 - 0.03, box.badges[kind])
    if "post" in box.badges:
        _draw_badge(axes, "post", edge - 0.02, y + _HEIGHT / 2, box.badges["post"])


def _draw_badge(axes: Axes, kind: str, x: float, y: float, count: int) -> None:
    marker, colour, _ = _BADGES[kind]
    size = {"o": 13.5, "s": 12.5, "D": 10.5}[marker]
    axes.plot([x], [y], marker=marker, markersize=size, color=colour, markeredgecolor=_PAPER, zorder=4)
    if count > 1:
        axes.text(
            x, y - 0.005, str(count), ha="center", va="center", color="white", fontsize=8, weight="bold", zorder=5
        )
