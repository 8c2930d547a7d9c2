"""An autograd graph as boxes in rows, ready to be drawn: the walk over the real graph, and the layout.

The walk follows ``grad_fn.next_functions`` from an output to the leaves. Layout: a box stands one row above the highest
row of those that use it, long edges bend around the boxes between (the layered layout of Sugiyama, Tagawa and Toda,
without its finer points).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge

__all__ = ["Graph", "GraphBox", "Route", "graph_of"]

_HEIGHT, _LINE = 0.5, 0.19
"""Inches: of a box with two lines of text; a third makes it _LINE higher."""
_GAP, _BETWEEN = 0.26, 0.36
_BEND_WIDTH = 0.12


@dataclass
class GraphBox:
    """A node of the graph, or a bend of an edge that passes this row."""

    node: Any = None
    """The autograd node; None for a bend."""
    labels: list[str] = field(default_factory=list)
    leaf: bool = False
    badges: dict[str, int] = field(default_factory=dict)
    """How many hooks of a kind hang on the box's tensor: hook, retain, post."""
    gradient: str = ""
    row: int = 0
    """0 is the output's row; the leaves have the highest numbers, and stand on top."""
    x: float = 0.0
    below: list[GraphBox] = field(default_factory=list)
    above: list[GraphBox] = field(default_factory=list)

    @property
    def operation(self) -> str:
        """``MulBackward0``; C++ spells one of them torch::autograd::AccumulateGrad."""
        return str(self.node.name()).rsplit("::", 1)[-1]

    @property
    def label(self) -> str:
        return " = ".join(self.labels)

    @property
    def width(self) -> float:
        if self.node is None:
            return _BEND_WIDTH
        letters = max(len(self.operation) * 0.9, len(self.label), len(self.gradient) * 0.95)
        return float(0.3 + 0.076 * letters)


@dataclass
class Route:
    """An edge as the boxes and bends it passes, from the consumer up to what it used."""

    boxes: list[GraphBox]
    times: int = 1
    marked: bool = False


@dataclass
class Graph:
    """Boxes in rows from the output up, and the edges between them. ``x`` and ``y`` are inches."""

    rows: list[list[GraphBox]]
    routes: list[Route]

    @property
    def boxes(self) -> list[GraphBox]:
        """The real boxes, row by row, from the output up."""
        return [box for row in self.rows for box in row if box.node is not None]

    @property
    def height(self) -> float:
        """Of a box."""
        return _HEIGHT + (_LINE if any(box.gradient for box in self.boxes) else 0.0)

    @property
    def pitch(self) -> float:
        """From row to row."""
        return self.height + (_BETWEEN if len(self.rows) <= 12 else 0.7 * _BETWEEN)

    @property
    def ends(self) -> tuple[float, float]:
        """Left and right end."""
        boxes = [box for row in self.rows for box in row]
        return min(box.x - box.width / 2 for box in boxes), max(box.x + box.width / 2 for box in boxes)

    def lay_out(self) -> None:
        """Give every box its place in its row; once all texts are written on them, which make boxes wide."""
        for row in self.rows:
            _spread(row, [0.0] * len(row))
        for _ in range(6):
            for row in self.rows[1:]:
                row.sort(key=lambda box: _mean(box.below, box.x))
                _spread(row, [_mean(box.below, box.x) for box in row])
            for row in self.rows[-2::-1]:
                row.sort(key=lambda box: _mean(box.above, box.x))
                _spread(row, [_mean(box.above, box.x) for box in row])
        for row in self.rows:
            _spread(row, [_mean(box.below + box.above, box.x) for box in row])

    def in_words(self) -> list[str]:
        """One sentence a box: what it is, what hangs there, and where the gradient goes on to."""
        told = []
        goes_on: dict[int, list[str]] = {}
        for route in self.routes:
            first, last = route.boxes[0], route.boxes[-1]
            text = last.label or last.operation
            goes_on.setdefault(id(first), []).append(text + (f" ({route.times} times)" if route.times > 1 else ""))
        words = {"hook": "tensor hook", "retain": "retain_grad", "post": "post-accumulate hook"}
        for box in self.boxes:
            text = f"{box.label}, {box.operation}" if box.label else box.operation
            for kind, count in box.badges.items():
                text += f", {words[kind]}" + (f" × {count}" if count > 1 else "")
            text += f", {box.gradient}" if box.gradient else ""
            onward = goes_on.get(id(box))
            told.append(text + (f" → {', '.join(onward)}" if onward else ""))
        return told


def graph_of(output: torch.Tensor, names: Mapping[str, torch.Tensor]) -> Graph:
    """The graph behind ``output``, with names, shapes and hooks on the boxes; not laid out yet."""
    boxes, times = _walk(output)
    found = {box.node: box for box in boxes}
    _name(found, output, dict(names))
    for consumer, used in times:
        boxes[used].row = max(boxes[used].row, boxes[consumer].row + 1)
    rows: list[list[GraphBox]] = [[] for _ in range(max(box.row for box in boxes) + 1)]
    for box in boxes:
        rows[box.row].append(box)
    routes = []
    for (consumer, used), count in times.items():
        route = [boxes[consumer]]
        for number in range(boxes[consumer].row + 1, boxes[used].row):
            bend = GraphBox(row=number)
            rows[number].append(bend)
            route.append(bend)
        route.append(boxes[used])
        for low, high in pairwise(route):
            low.above.append(high)
            high.below.append(low)
        routes.append(Route(route, count))
    return Graph(rows, routes)


def _walk(output: torch.Tensor) -> tuple[list[GraphBox], dict[tuple[int, int], int]]:
    """The boxes, consumers before what they use, and how often each (consumer, used) pair occurs."""
    root = get_gradient_edge(output).node
    boxes: dict[Any, GraphBox] = {}
    finished: list[GraphBox] = []
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            finished.append(boxes[node])
        elif node not in boxes:
            boxes[node] = GraphBox(node)
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
    return order, times


def _name(boxes: dict[Any, GraphBox], output: torch.Tensor, names: dict[str, torch.Tensor]) -> None:
    """Write names, shapes and hooks on the boxes."""
    if not any(tensor is output for tensor in names.values()):
        names = {**names, "output": output}
    seen: set[int] = set()
    for name, tensor in names.items():
        box = boxes.get(get_gradient_edge(tensor).node) if tensor.requires_grad else None
        if box is None:
            continue
        box.labels.append(f"{name} {tuple(tensor.shape)}")
        if id(tensor) not in seen:
            _count_hooks(box, tensor)
        seen.add(id(tensor))
    for node, box in boxes.items():
        variable = getattr(node, "variable", None)
        if variable is not None:
            box.leaf = True
            if not box.labels:
                box.labels.append(f"leaf {tuple(variable.shape)}")
                _count_hooks(box, variable)


def _count_hooks(box: GraphBox, tensor: torch.Tensor) -> None:
    found = {
        "hook": len(tensor._backward_hooks or {}),
        "retain": int(tensor.retains_grad),
        "post": len(getattr(tensor, "_post_accumulate_grad_hooks", None) or {}),
    }
    for kind, count in found.items():
        if count:
            box.badges[kind] = box.badges.get(kind, 0) + count


def _mean(boxes: list[GraphBox], otherwise: float) -> float:
    return sum(box.x for box in boxes) / len(boxes) if boxes else otherwise


def _spread(row: list[GraphBox], wishes: list[float]) -> None:
    """Put the boxes of a row near their wishes, in this order and without overlap."""
    space = [(one.width + other.width) / 2 + _GAP for one, other in pairwise(row)]
    rightwards, leftwards = list(wishes), list(wishes)
    for index, gap in enumerate(space):
        rightwards[index + 1] = max(rightwards[index + 1], rightwards[index] + gap)
    for index, gap in reversed(list(enumerate(space))):
        leftwards[index] = min(leftwards[index], leftwards[index + 1] - gap)
    for box, one, other in zip(row, rightwards, leftwards, strict=True):
        box.x = (one + other) / 2
