"""What the deprecated backward hook reports, next to what the full backward hook reports, for one real run."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import nn
from torch.autograd.graph import get_gradient_edge

from course.pictures.autograd_graph import in_short, paint_graph
from course.pictures.canvas import ORANGE, QUIET, Beside, Picture, beside, in_own_style
from course.pictures.graph import graph_of
from course.pictures.timeline import double_of

__all__ = ["draw_legacy_comparison"]


def draw_legacy_comparison(model: nn.Module, **inputs: torch.Tensor) -> Beside:
    """Draw ``grad_input`` of the deprecated and of the full backward hook into the autograd graph of a module.

    ``inputs`` are the arguments of its ``forward``, in their order; it returns one tensor. The numbers come from a run each,
    on copies, with an upstream gradient of 1 everywhere. Of more than four elements the norm is drawn.
    """
    return beside(*(_side(model, inputs, legacy) for legacy in (True, False)))


def _reported(model: nn.Module, inputs: dict[str, torch.Tensor], legacy: bool) -> list[torch.Tensor | None]:
    """What one of the two hooks gets as ``grad_input`` in a run of its own."""
    double, seen = double_of(model), list[torch.Tensor | None]()
    register: Any = double.register_backward_hook if legacy else double.register_full_backward_hook
    with warnings.catch_warnings(action="ignore"):
        register(lambda module, grad_input, grad_output: seen.extend(grad_input))
        double(*inputs.values()).sum().backward()
    return seen


@in_own_style
def _side(model: nn.Module, inputs: dict[str, torch.Tensor], legacy: bool) -> Picture:
    """What one of the two hooks reported, in words and in the graph of a run without any hook."""
    own = {name: one.detach().clone().requires_grad_() for name, one in inputs.items()}
    reported = _reported(model, own, legacy)
    double = double_of(model)
    output = double(*own.values())
    graph = graph_of(output, {**own, **dict(double.named_parameters()), "output": output})
    for box in graph.boxes:
        if box.leaf and box.node.variable.numel() == 1:
            box.labels = [f"{box.label.split(' (')[0]} = {in_short(box.node.variable)}"]
    root = graph.rows[0][0]
    method, what = "register_full_backward_hook", f"gradients of its inputs: {', '.join(own)}"
    nodes = [get_gradient_edge(one).node for one in own.values()]
    if legacy:
        # It hangs on the last operation, and reports one gradient for each of that operation's inputs.
        method, what = (
            "register_backward_hook (deprecated)",
            f"gradients of its last operation's inputs ({root.operation})",
        )
        nodes = [node for node, _ in root.node.next_functions]
        root.glows = True
    for number, (node, gradient) in enumerate(zip(nodes, reported, strict=False)):
        if node in graph.box_of_node:
            graph.box_of_node[node].gradient = f"[{number}]: {in_short(gradient)}"
    graph.lay_out()
    told = f"grad_input = ({', '.join(map(in_short, reported))})"
    left, right = graph.ends
    wide, high = max(3.9, right - left + 0.4), graph.tall + 1.07
    picture = Picture(wide, high, f"{method} {told} {what}.")
    picture.titled(method)
    picture.write(0.15, high - 0.48, told, weight="bold", color=ORANGE)
    picture.write(0.15, high - 0.6, what, fontsize=8.5, color=QUIET, va="top")
    axes = picture.sheet(0, 0, wide, high - 0.82, (left + right - wide) / 2, -graph.height / 2 - 0.15)
    paint_graph(axes, graph)
    return picture
