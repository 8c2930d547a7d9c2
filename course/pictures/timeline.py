"""When hooks fire: one forward and one backward of any module, event after event.

The run is a copy's: nothing of the model, its gradients, its buffers, the inputs or torch's random generator is changed.
"""

from __future__ import annotations

import copy
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map_only

from course.patient import tensors_in
from course.pictures.canvas import BLUE, FAINT, INK, MONO, ORANGE, PAPER, QUIET, RED, Picture, in_own_style
from course.pictures.words import cut, deepest, level_of, listed
from nbproof.text import counted

__all__ = ["KINDS", "Event", "double_of", "draw_hook_timeline", "record_hooks"]

MAX_LANES = 40
"""Deeper levels are left out, and counted in words, where there would be more lanes than this."""
_PITCH, _SIZE = 0.32, 9.0
"""Inches from lane to lane, and the size of their names."""

KINDS = {
    "forward_pre": ("forward pre-hook", ">", BLUE, PAPER, 1.0),
    "forward": ("forward hook", "s", BLUE, BLUE, 1.0),
    "backward_pre": ("full backward pre-hook", "<", ORANGE, PAPER, 1.0),
    "backward": ("full backward hook", "D", ORANGE, ORANGE, 0.75),
    "weight": ("tensor hook on a parameter", "*", RED, RED, 1.6),
}
"""The word for it, its mark with the colours of edge and face, and how large that is."""


@dataclass(frozen=True)
class Event:
    """One call of a hook: the dotted name of its module ('' is the root), and the kind of hook, one of :data:`KINDS`."""

    name: str
    kind: str


def double_of(model: nn.Module) -> nn.Module:
    """A copy of a model without the hooks of its owner: nothing that runs in it reaches the model.

    Hooks that PyTorch itself has put there, which make lazy modules or ``weight_norm`` work, stay.
    """
    double = copy.deepcopy(model)
    for module in double.modules():
        for name, hooks in vars(module).items():
            if name.endswith("_hooks") and isinstance(hooks, OrderedDict):
                for key, hook in list(hooks.items()):
                    if not str(getattr(hook, "__module__", "")).startswith("torch."):
                        del hooks[key]
        if not module._backward_hooks:
            module._is_full_backward_hook = None
    return double


def record_hooks(model: nn.Module, *inputs: Any, weights: bool = False, **keywords: Any) -> list[Event]:
    """The events of one ``model(*inputs, **keywords)`` and one backward of its summed output, of a copy.

    The hooks are the recording's own; those of the model's owner do not run. With ``weights`` a gradient that comes to a
    parameter is an event as well. Errors of the model pass through, also those that torch raises for in-place operations.
    """
    events: list[Event] = []

    def noting(name: str, kind: str) -> Callable[..., None]:
        return lambda *_: events.append(Event(name, kind))

    with (
        warnings.catch_warnings(action="ignore"),
        torch.random.fork_rng(),
        torch.inference_mode(False),
        torch.enable_grad(),
    ):
        double = double_of(model)
        for name, module in double.named_modules():
            # First of all, before what makes a lazy module initialize itself: that runs a module as well.
            module.register_forward_pre_hook(noting(name, "forward_pre"), prepend=True)
            module.register_forward_hook(noting(name, "forward"))
            module.register_full_backward_pre_hook(noting(name, "backward_pre"))
            module.register_full_backward_hook(noting(name, "backward"))
        # Tensors of its own, apart from the caller's.
        args, kwargs = tree_map_only(
            torch.Tensor, lambda one: one.detach().clone().requires_grad_(one.requires_grad), (inputs, keywords)
        )
        output = double(*args, **kwargs)
        for name, weight in double.named_parameters():  # now: a lazy one gets its shape in the run
            if weights and weight.requires_grad:
                weight.register_hook(noting(name.rpartition(".")[0], "weight"))  # type: ignore[no-untyped-call]
        sums = [one.sum() for one in tensors_in(output) if one.requires_grad]
        if sums:
            torch.stack(sums).sum().backward()  # type: ignore[no-untyped-call]
    return events


@in_own_style
def draw_hook_timeline(
    model: nn.Module, *inputs: Any, title: str | None = None, weights: bool = False, **keywords: Any
) -> Picture:
    """Run a copy of ``model`` once forward and once backward, and draw every module hook in the order it fires.

    One lane a module, the outer ones on top; a line reaches from a module's first hook to its last. With ``weights`` a
    star in a module's lane says when the gradient of one of its parameters comes. Nothing of the model, its gradients, its
    buffers or the inputs is changed. The model's own hooks do not run. Errors of the model pass through.
    """
    events = record_hooks(model, *inputs, weights=weights, **keywords)
    heading = title or f"Hooks of one forward and one backward of {type(model).__name__}"
    whose = {name: f"{name}: {type(one).__name__}".removeprefix(": ") for name, one in model.named_modules()}
    told = listed((f"{at} {KINDS[one.kind][0]} of {whose[one.name]}" for at, one in enumerate(events, 1)), 60)
    depths = {event.name: level_of(event.name) for event in events if event.kind != "weight"}
    depth = deepest(depths.values(), MAX_LANES)
    shown = [event for event in events if depths.get(event.name, depth + 1) <= depth]
    hidden = sum(at > depth for at in depths.values())
    note = f"{counted(hidden, 'module')} below level {depth} not drawn" if hidden else ""
    if not any(event.kind == "backward_pre" for event in events):
        note = "no backward: nothing requires a gradient"
    remark = f" ({note})" if note else ""
    alt = f"{heading}{remark}. In this order: {told}"
    labels = {name: "  " * min(depth, 8) + cut(whose[name], 56) for name, depth in depths.items()}
    return _drawn(shown, labels, heading, note, alt)


def _drawn(events: list[Event], labels: dict[str, str], heading: str, note: str, alt: str) -> Picture:
    """The lanes, with their marks in them."""
    lanes = list(dict.fromkeys(event.name for event in events))
    names = [labels[name] for name in lanes]
    left = 0.3 + 0.0088 * _SIZE * max(map(len, names))
    room = max(min(0.3 * len(events), max(6.0, 9.2 - left)), 7.2 - left, 2.4)
    head = 0.98 if note else 0.78
    foot, high = 0.62, _PITCH * len(lanes)
    picture = Picture(max(left + room + 0.2, 0.3 + 0.092 * len(heading)), head + high + foot, alt)
    tall = picture.titled(heading)
    picture.write(0.15, tall - 0.5, note, fontsize=8.5, color=QUIET)
    axes = picture.inches(left, foot, room, high, facecolor="none")
    axes.set(xlim=(0, len(events) + 1), ylim=(len(lanes) - 0.5, -0.5), xticks=[], frame_on=False)
    axes.set_yticks(range(len(lanes)), names, fontsize=_SIZE, family=MONO, color=INK, ha="left")
    axes.tick_params(length=0, pad=72 * (left - 0.15))
    band = {"color": FAINT, "linewidth": 0, "alpha": 0.6, "zorder": -1, "clip_on": False}
    step = room / (len(events) + 1)
    axes.barh(range(0, len(lanes), 2), (left + room - 0.1) / step, 1.0, (0.1 - left) / step, **band)
    _draw_events(axes, events, lanes, step)
    _draw_sides(axes, events)
    columns = 3 if any(event.kind == "weight" for event in events) else 4
    picture.key(columns)
    return picture


def _draw_events(axes: Any, events: list[Event], lanes: list[str], step: float) -> None:
    """A mark each, with its number where there is room, and a line from a call's first to its last."""
    begun: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, event in enumerate(events, 1):
        lane = lanes.index(event.name)
        if step >= 0.16:
            style = {"textcoords": "offset points", "ha": "center", "fontsize": 7, "color": INK}
            axes.annotate(str(number), (number, lane), (0, 6), **style)
        way = event.kind.removesuffix("_pre")
        if way != event.kind:
            begun[event.name, way].append(number)
        elif begun[event.name, way]:
            ends = [begun[event.name, way].pop(), number]
            axes.plot(ends, [lane] * 2, color=KINDS[way][2], linewidth=2.2, zorder=2)
    size = min(46.0, max(9.0, 46 * step / 0.16))
    line = 1.4 if size > 20 else 0.9
    for kind, (label, marker, colour, face, grows) in KINDS.items():
        numbers = [number for number, event in enumerate(events, 1) if event.kind == kind]
        if numbers:
            rows = [lanes.index(events[number - 1].name) for number in numbers]
            look = {"marker": marker, "facecolor": face, "edgecolor": colour, "linewidth": line}
            axes.scatter(numbers, rows, s=size * grows, zorder=3, clip_on=False, label=label, **look)


def _draw_sides(axes: Any, events: list[Event]) -> None:
    """The words "forward" and "backward" above their part, and a line between."""
    # A checkpoint's second forward comes within backward.
    forward = next((at for at, one in enumerate(events) if not one.kind.startswith("forward")), len(events))
    style: dict[str, Any] = {"ha": "center", "va": "center", "weight": "bold", "fontsize": 9.5}
    top = -0.5 - 0.14 / _PITCH
    axes.text((1 + forward) / 2, top, "forward →", color=BLUE, **style)
    if forward < len(events):
        ends = [-0.5 - 0.2 / _PITCH, axes.get_ylim()[0]]
        axes.plot([forward + 0.5] * 2, ends, color=INK, linewidth=1, clip_on=False, linestyle=(0, (4, 3)), zorder=1)
        axes.text((forward + 1 + len(events)) / 2, top, "backward →", color=ORANGE, **style)
