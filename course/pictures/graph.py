"""An autograd graph as boxes in rows, ready to be drawn: the walk over the real graph, and the layout.

The walk follows ``grad_fn.next_functions`` from an output to the leaves. Layout: a box stands one row above the highest
row of those that use it, long edges bend around the boxes between (the layered layout of Sugiyama, Tagawa and Toda,
without its finer points).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import chain, pairwise
from statistics import fmean
from typing import Any

import torch
from torch.autograd.graph import get_gradient_edge

__all__ = ["Graph", "GraphBox", "Route", "graph_of", "uses_behind"]

# Inches: of a box with two lines of text; a third makes it _LINE higher.
_HEIGHT, _LINE = 0.5, 0.19
_GAP, _BETWEEN = 0.26, 0.36
_BEND_WIDTH = 0.12


@dataclass
class GraphBox:
    """A node of the graph, or a bend of an edge that passes this row."""

    node: Any = None
    """The autograd node; None for a bend."""
    labels: list[str] = field(default_factory=list)
    badges: dict[str, int] = field(default_factory=dict)
    """How many hooks of a kind hang on the box's tensor: hook, retain, post."""
    gradient: str = ""
    glows: bool = False
    """Whether it is set off from the others, with the arrows that leave it."""
    row: int = 0
    """0 is the output's row; the leaves have the highest numbers, and stand on top."""
    x: float = 0.0
    below: list[GraphBox] = field(default_factory=list)
    above: list[GraphBox] = field(default_factory=list)

    @property
    def leaf(self) -> bool:
        return hasattr(self.node, "variable")

    def count_hooks(self, tensor: torch.Tensor) -> None:
        """Note the hooks of the box's tensor. Several names may stand for one tensor, which is counted once."""
        found = {
            "hook": len(tensor._backward_hooks or {}),
            "retain": int(tensor.retains_grad),
            "post": len(getattr(tensor, "_post_accumulate_grad_hooks", None) or {}),
        }
        self.badges |= {kind: count for kind, count in found.items() if count}

    @property
    def operation(self) -> str:
        """``MulBackward0``; C++ spells one of them torch::autograd::AccumulateGrad."""
        return str(self.node.name()).rsplit("::", 1)[-1]

    @property
    def label(self) -> str:
        return " = ".join(self.labels)

    def in_words(self) -> str:
        """``h (2,), MulBackward0, tensor hook × 2, grad 6``."""
        words = {"hook": "tensor hook", "retain": "retain_grad", "post": "post-accumulate hook"}
        hooks = []
        for kind, count in self.badges.items():
            hook = f"{words[kind]} × {count}" if count > 1 else words[kind]
            hooks.append(hook)
        return ", ".join(part for part in (self.label, self.operation, *hooks, self.gradient) if part)

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
    times: int


@dataclass
class Graph:
    """Boxes in rows from the output up, and the edges between them. ``x`` and ``y`` are inches."""

    rows: list[list[GraphBox]]
    routes: list[Route]
    box_of_node: dict[Any, GraphBox]

    def box_of(self, tensor: torch.Tensor) -> GraphBox | None:
        """The box of the node that a tensor's gradient comes to; None for a tensor that is no part of this graph."""
        return self.box_of_node.get(get_gradient_edge(tensor).node) if tensor.requires_grad else None

    @property
    def boxes(self) -> list[GraphBox]:
        """The real boxes, row by row, from the output up."""
        return [box for box in chain.from_iterable(self.rows) if box.node is not None]

    @property
    def height(self) -> float:
        """The height of a box."""
        return _HEIGHT + _LINE if any(box.gradient for box in self.boxes) else _HEIGHT

    @property
    def pitch(self) -> float:
        """The distance from row to row."""
        return self.height + _BETWEEN

    @property
    def tall(self) -> float:
        """The height of all rows together."""
        return self.height + self.pitch * (len(self.rows) - 1)

    @property
    def ends(self) -> tuple[float, float]:
        """The left and the right end of all boxes."""
        boxes = list(chain.from_iterable(self.rows))
        return min(box.x - box.width / 2 for box in boxes), max(box.x + box.width / 2 for box in boxes)

    def lay_out(self) -> None:
        """Give every box its place in its row; once all texts are written on them, which make boxes wide."""
        for _ in range(6):
            for row in self.rows:
                _settle(row, lambda box: box.below)
            for row in self.rows[::-1]:
                _settle(row, lambda box: box.above)
        for row in self.rows:
            _settle(row, lambda box: box.below + box.above)

    def in_words(self) -> list[str]:
        """One sentence a box: what it is, what hangs there, and where the gradient goes on to."""
        goes_on: dict[int, list[str]] = defaultdict(list)
        for route in self.routes:
            text = route.boxes[-1].label or route.boxes[-1].operation
            if route.times > 1:
                text += f" ({route.times} times)"
            goes_on[id(route.boxes[0])].append(text)
        return [" → ".join(filter(None, (box.in_words(), ", ".join(goes_on[id(box)])))) for box in self.boxes]


def graph_of(output: torch.Tensor, names: Mapping[str, torch.Tensor]) -> Graph:
    """The graph behind ``output``, with names, shapes and hooks on the boxes; not laid out yet."""
    uses = uses_behind([output])
    boxes = {node: GraphBox(node) for node in uses}
    for node in reversed([*TopologicalSorter(uses).static_order()]):
        for used in uses[node]:
            boxes[used].row = max(boxes[used].row, boxes[node].row + 1)
    last = max(box.row for box in boxes.values())
    rows: list[list[GraphBox]] = [[] for _ in range(last + 1)]
    for box in boxes.values():
        rows[box.row].append(box)
    routes = []
    for node, box in boxes.items():
        for used, times in Counter(uses[node]).items():
            bends = [GraphBox(row=number) for number in range(box.row + 1, boxes[used].row)]
            for bend in bends:
                rows[bend.row].append(bend)
            routes.append(Route([box, *bends, boxes[used]], times))
            for low, high in pairwise(routes[-1].boxes):
                low.above.append(high)
                high.below.append(low)
    graph = Graph(rows, routes, boxes)
    _name(graph, names, output)
    return graph


def uses_behind(outputs: Iterable[torch.Tensor]) -> dict[Any, list[Any]]:
    """Every node of the graph behind these tensors, with the nodes that it uses, as often as it does."""
    uses: dict[Any, list[Any]] = {}
    waiting = [get_gradient_edge(one).node for one in outputs]
    while waiting:
        node = waiting.pop()
        if node not in uses:
            uses[node] = [used for used, _ in node.next_functions if used is not None]
            waiting += reversed(uses[node])
    return uses


def _name(graph: Graph, names: Mapping[str, torch.Tensor], output: torch.Tensor) -> None:
    """Write names, shapes and hooks on the boxes."""
    known = {id(tensor) for tensor in names.values()}
    others = [("leaf", box.node.variable) for box in graph.boxes if box.leaf] + [("output", output)]
    unnamed = [(name, one) for name, one in others if id(one) not in known]
    for name, tensor in [*names.items(), *unnamed]:
        box = graph.box_of(tensor)
        if box is not None:
            box.labels.append(f"{name} {tuple(tensor.shape)}")
            box.count_hooks(tensor)


def _settle(row: list[GraphBox], beside: Callable[[GraphBox], list[GraphBox]]) -> None:
    """Put each box of a row near the middle of those ``beside`` it, if there are any, and none over another."""
    for box in row:
        near = beside(box) or [box]
        box.x = fmean(other.x for other in near)
    row.sort(key=lambda box: box.x)
    rightwards = [box.x for box in row]
    leftwards = [*rightwards]
    space = [(one.width + other.width) / 2 + _GAP for one, other in pairwise(row)]
    for index, gap in enumerate(space):
        rightwards[index + 1] = max(rightwards[index + 1], rightwards[index] + gap)
    for index, gap in reversed(list(enumerate(space))):
        leftwards[index] = min(leftwards[index], leftwards[index + 1] - gap)
    for box, one, other in zip(row, rightwards, leftwards, strict=True):
        box.x = (one + other) / 2
