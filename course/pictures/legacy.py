"""What the deprecated backward hook reports, next to what the full backward hook reports, for one real run."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass
from typing import Any

import torch
from matplotlib.lines import Line2D
from torch import nn

from course.patient import tensors_in
from course.pictures.autograd_graph import in_short, paint_graph
from course.pictures.canvas import INK, ORANGE, QUIET, Picture, in_own_style
from course.pictures.doubles import double_of, quietly
from course.pictures.graph import Graph, graph_of
from course.pictures.words import cut

__all__ = ["draw_legacy_comparison", "reported_grad_input"]


@in_own_style
def draw_legacy_comparison(model: nn.Module, *inputs: torch.Tensor) -> Picture:
    """Draw ``grad_input`` of the deprecated and of the full backward hook into the autograd graph of any module.

    The numbers come from a run each, on copies of ``model`` and ``inputs``, with an upstream gradient of 1 everywhere.
    Floating-point inputs require a gradient there. Of more than four elements the norm is drawn. Raises whatever the runs
    raise.
    """
    heading = f"Two backward hooks on {type(model).__name__}"
    sides = [_side(model, inputs, legacy) for legacy in (True, False)]
    widths = [max(3.9, side.width + 0.4) for side in sides]
    high = max(side.graph.tall for side in sides) + 1.35
    alt = f"{heading}. " + " ".join(f"{' '.join(side.words)}." for side in sides)
    picture = Picture(sum(widths), high, alt)
    picture.write(0.2, high - 0.22, heading, fontsize=11.5, weight="bold")
    for side, width, left in zip(sides, widths, (0.0, widths[0]), strict=True):
        picture.write(left + 0.2, high - 0.52, side.words[0], fontsize=9.5, weight="bold")
        picture.write(left + 0.2, high - 0.74, side.words[1], weight="bold", color=ORANGE)
        below = "\n".join(textwrap.wrap(side.words[2], 52)[:2])
        picture.write(left + 0.2, high - 0.86, below, fontsize=8.5, color=QUIET, va="top", linespacing=1.4)
        start, floor = (sum(side.graph.ends) - width) / 2, -side.graph.height / 2 - 0.15
        axes = picture.sheet(left, 0, width, high - 1.1, start, floor)
        paint_graph(axes, side.graph, side.graph.rows[0][:1] if side is sides[0] else ())
    edge = [widths[0]] * 2, [0.04 * high, high - 1.3]
    picture.put(Line2D(*edge, color=INK, linewidth=0.8, linestyle=(0, (4, 3))))
    return picture


def reported_grad_input(model: nn.Module, *inputs: torch.Tensor, legacy: bool) -> tuple[torch.Tensor | None, ...]:
    """What one of the two hooks gets as ``grad_input`` in a run of its own. ``model`` and ``inputs`` stay as they are.

    Raises whatever the run raises, and ValueError where the hook does not run.
    """
    double = double_of(model)
    seen: list[tuple[torch.Tensor | None, ...]] = []

    def collect(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
        seen.append(grad_input if isinstance(grad_input, tuple) else (grad_input,))

    with quietly():
        (double.register_backward_hook if legacy else double.register_full_backward_hook)(collect)
        _run(double, _own(inputs), backward=True)
    if not seen:
        raise ValueError("the hook did not run: no gradient comes to this module")
    return seen[0]


def _own(inputs: tuple[Any, ...]) -> list[Any]:
    return [
        one.detach().clone().requires_grad_(one.is_floating_point() or one.is_complex())
        if isinstance(one, torch.Tensor)
        else one
        for one in inputs
    ]


def _run(double: nn.Module, inputs: list[Any], backward: bool) -> torch.Tensor:
    """The first output tensor of a run, after a backward from all of them where that is wanted."""
    # Non-leaves, so that a model may change its input in place.
    output = double(*(one.clone() if isinstance(one, torch.Tensor) and backward else one for one in inputs))
    tensors = [one for one in tensors_in(output) if one.requires_grad]
    if not tensors:
        raise ValueError("nothing here requires a gradient")
    if backward:
        torch.autograd.backward(tensors, [torch.ones_like(one) for one in tensors])
    return tensors[0]


@dataclass(frozen=True)
class _Side:
    """One of the two hooks: what it reported, in words, and the graph with these numbers in it."""

    words: tuple[str, str, str]
    graph: Graph

    @property
    def width(self) -> float:
        left, right = self.graph.ends
        return right - left


def _side(model: nn.Module, inputs: tuple[Any, ...], legacy: bool) -> _Side:
    method = "register_backward_hook (deprecated)" if legacy else "register_full_backward_hook"
    reported = reported_grad_input(model, *inputs, legacy=legacy)
    graph, names = _plain_graph(model, inputs)
    told = cut(", ".join(map(in_short, reported)), 40) + ("," if len(reported) == 1 else "")
    last = graph.rows[0][0].operation
    what = f"gradients of its last operation, {last}" if legacy else f"gradients of its inputs: {', '.join(names)}"
    if legacy:
        _label_last(graph, reported)
    else:
        _label_inputs(graph, reported, names)
    graph.lay_out()
    return _Side((method, f"grad_input = ({told})", what), graph)


def _plain_graph(model: nn.Module, inputs: tuple[Any, ...]) -> tuple[Graph, dict[str, torch.Tensor]]:
    """The graph of a run without any hook, and the names of the inputs that require a gradient."""
    double, own = double_of(model), _own(inputs)
    with quietly():
        output = _run(double, own, backward=False)
    names = {
        name: one
        for name, one in zip(_input_names(model, len(own)), own, strict=True)
        if isinstance(one, torch.Tensor) and one.requires_grad
    }
    graph = graph_of(output, {**names, **dict(double.named_parameters()), "output": output})
    for box in graph.boxes:
        value = getattr(box.node, "variable", None)
        if value is not None and value.numel() == 1 and len(box.labels) == 1:
            box.labels = [f"{box.labels[0].split(' (')[0]} = {in_short(value)}"]
    return graph, names


def _input_names(model: nn.Module, count: int) -> list[str]:
    """``x1``, ``x2``: what forward calls its arguments."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [one.name for one in inspect.signature(model.forward).parameters.values() if one.kind in kinds]
    return [names[at] if at < len(names) else f"input {at}" for at in range(count)]


def _label_last(graph: Graph, reported: tuple[torch.Tensor | None, ...]) -> None:
    """The legacy hook hangs on the last operation, and reports one gradient for each of that operation's inputs."""
    root = graph.rows[0][0]
    carried: dict[Any, list[str]] = {}
    for number, ((used, _), gradient) in enumerate(zip(root.node.next_functions, reported, strict=False)):
        carried.setdefault(used, []).append(f"[{number}]: {in_short(gradient)}")
    for route in graph.routes:
        if route.boxes[0] is root:
            route.marked = True
            route.boxes[-1].gradient = ", ".join(carried.get(route.boxes[-1].node, []))


def _label_inputs(graph: Graph, reported: tuple[torch.Tensor | None, ...], names: dict[str, torch.Tensor]) -> None:
    """The full hook reports one gradient for each positional input of the module."""
    gradients = [one for one in reported if one is not None]
    for number, (tensor, gradient) in enumerate(zip(names.values(), gradients, strict=False)):
        box = graph.box_of(tensor)
        if box is not None:
            box.gradient = f"[{number}]: {in_short(gradient)}"
