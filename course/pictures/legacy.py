"""What the deprecated backward hook reports, next to what the full backward hook reports, for one real run."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import torch
from torch import nn

from course.patient import tensors_in
from course.pictures.autograd_graph import in_short, paint_graph
from course.pictures.beside import Beside, beside
from course.pictures.canvas import ORANGE, QUIET, Picture, in_own_style
from course.pictures.doubles import double_of, quietly
from course.pictures.graph import Graph, graph_of
from course.pictures.words import cut

__all__ = ["draw_legacy_comparison", "reported_grad_input"]


def draw_legacy_comparison(model: nn.Module, *inputs: torch.Tensor) -> Beside:
    """Draw ``grad_input`` of the deprecated and of the full backward hook into the autograd graph of any module.

    The numbers come from a run each, on copies of ``model`` and ``inputs``, with an upstream gradient of 1 everywhere.
    Floating-point inputs require a gradient there. Of more than four elements the norm is drawn. Raises whatever the runs
    raise.
    """
    return beside(*(_side(model, inputs, legacy) for legacy in (True, False)))


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


@in_own_style
def _side(model: nn.Module, inputs: tuple[Any, ...], legacy: bool) -> Picture:
    """What one of the two hooks reported, in words and in the graph."""
    reported = reported_grad_input(model, *inputs, legacy=legacy)
    graph, names = _plain_graph(model, inputs)
    if legacy:
        method, what = "register_backward_hook (deprecated)", f"last operation, {graph.rows[0][0].operation}"
        _label_last(graph, reported)
    else:
        method, what = "register_full_backward_hook", f"inputs: {', '.join(names)}"
        _label_inputs(graph, reported, names)
    graph.lay_out()
    told = f"grad_input = ({cut(', '.join(map(in_short, reported)), 40)}{',' * (len(reported) == 1)})"
    what = f"gradients of its {what}"
    left, right = graph.ends
    wide, high = max(3.9, right - left + 0.4), graph.tall + 1.07
    picture = Picture(wide, high, f"{method} {told} {what}.")
    picture.titled(method)
    picture.write(0.15, high - 0.48, told, weight="bold", color=ORANGE)
    below = "\n".join(textwrap.wrap(what, 52)[:2])
    picture.write(0.15, high - 0.6, below, fontsize=8.5, color=QUIET, va="top", linespacing=1.4)
    axes = picture.sheet(0, 0, wide, high - 0.82, (left + right - wide) / 2, -graph.height / 2 - 0.15)
    paint_graph(axes, graph, graph.rows[0][:1] if legacy else ())
    return picture


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
