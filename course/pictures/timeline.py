"""When hooks fire: one forward and one backward of any module, event after event.

The run is a copy's: nothing of the model, its gradients, its buffers, the inputs or the random generators is changed.
"""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import nn

from course.patient import tensors_in
from course.pictures.canvas import BLUE, FAINT, INK, MONO, ORANGE, PAPER, QUIET, Picture, in_own_style
from course.pictures.doubles import double_of, quietly, spare_copy
from course.pictures.graph import uses_behind
from course.pictures.words import brief, cut, deepest, listed
from nbproof.text import counted

__all__ = ["KINDS", "Event", "draw_hook_timeline", "record_hooks"]


@dataclass(frozen=True)
class Event:
    """One hook call: on which module (dotted name, '' is the root), of which kind, within which call, how deep."""

    name: str
    kind: str
    """forward_pre, forward, backward_pre or backward; parameter."""
    call: int
    """The number of the module's call, counted over all modules from 0. A reused module has several."""
    depth: int
    given: dict[str, str] = field(default_factory=dict, compare=False)
    """What the hook got besides the module, in words, by the names that its arguments have in PyTorch's documentation."""


def record_hooks(model: nn.Module, *inputs: Any, **keywords: Any) -> tuple[list[Event], str]:
    """The events of one ``model(*inputs, **keywords)`` and one backward of its summed output, and a note ('' for none).

    The hooks are the recording's own; those of the model's owner do not run. In-place operations forbid full backward
    hooks; where torch says so, tensor hooks on the modules' inputs and outputs take their place. A gradient that
    comes to a parameter is an event as well, under the parameter's name. Raises whatever the model raises.
    """
    note = ""
    try:
        events = _recorded(model, inputs, keywords, by_tensors=False)
    except RuntimeError as error:
        if "BackwardHookFunction" not in str(error):
            raise
        events = _recorded(model, inputs, keywords, by_tensors=True)
        note = "in-place operations: backward seen by tensor hooks on inputs and outputs"
    if not any(event.kind.startswith("backward") for event in events):
        note = "no backward: nothing requires a gradient"
    return events, note


def _recorded(model: nn.Module, inputs: tuple[Any, ...], keywords: Mapping[str, Any], by_tensors: bool) -> list[Event]:
    recorder = _Recorder(by_tensors)
    with contextlib.ExitStack() as hooks:
        hooks.enter_context(quietly())
        double = double_of(model)
        for name, module in double.named_modules():
            recorder.watch(hooks, name, module)
        output = double(*spare_copy(inputs), **spare_copy(dict(keywords)))
        recorder.watch_parameters(double)  # now: a lazy one gets its shape in the run
        outputs = [tensor for tensor in tensors_in(output) if tensor.requires_grad]
        if outputs:
            # autograd.grad, not backward: what the model shares with others, a global tensor, keeps its .grad.
            # All leaves are asked for, so all of the graph runs.
            leaves = [node.variable for node in uses_behind(outputs) if hasattr(node, "variable")]
            ones = [torch.ones_like(tensor) for tensor in outputs]
            torch.autograd.grad(outputs, leaves, ones, allow_unused=True)
    return recorder.events


class _Recorder:
    """Hooks that write down when they are called."""

    def __init__(self, by_tensors: bool) -> None:
        self.by_tensors = by_tensors
        self.events: list[Event] = []
        self.open: list[Event] = []
        """The modules whose forward has begun and not ended, outer ones first."""
        self.calls = 0

    def watch(self, stack: contextlib.ExitStack, name: str, module: nn.Module) -> None:
        """Hook one module until the stack unwinds."""
        waiting: list[Event] = []
        """The module's calls whose backward has not come yet."""
        started: list[Event] = []

        def before(module: nn.Module, args: Any, kwargs: Any) -> None:
            said = {"args": brief(args), **({"kwargs": brief(kwargs)} if kwargs else {})}
            event = Event(name, "forward_pre", self.calls, len(self.open), said)
            self.calls += 1
            self.open.append(event)
            self.events.append(event)
            if self.by_tensors:
                self.on_gradients(tensors_in([args, kwargs]), event, "backward", first=False)

        def after(module: nn.Module, args: Any, output: Any) -> None:
            event = self.open.pop()
            self.add("forward", event, args=args, output=output)
            waiting.append(event)
            if self.by_tensors:
                self.on_gradients(tensors_in(output), event, "backward_pre", first=True)

        def backward_before(module: nn.Module, grad_output: Any) -> None:
            # Of a reused module the last call is the first that backward comes to.
            if waiting:
                started.append(waiting.pop())
                self.add("backward_pre", started[-1], grad_output=grad_output)

        def backward_after(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
            if started:
                self.add("backward", started.pop(0), grad_input=grad_input, grad_output=grad_output)

        # First of all, before what makes a lazy module initialize itself: that runs a module as well.
        stack.callback(module.register_forward_pre_hook(before, prepend=True, with_kwargs=True).remove)
        stack.callback(module.register_forward_hook(after).remove)
        if not self.by_tensors:
            stack.callback(module.register_full_backward_pre_hook(backward_before).remove)
            stack.callback(module.register_full_backward_hook(backward_after).remove)

    def watch_parameters(self, model: nn.Module) -> None:
        """Note when the gradient of each comes; one that several modules share comes under its first name."""
        for name, weight in model.named_parameters():
            if weight.requires_grad:
                weight.register_hook(partial(self.note_parameter, name))  # type: ignore[no-untyped-call]

    def note_parameter(self, name: str, grad: torch.Tensor) -> None:
        self.events.append(Event(name, "parameter", -1, 0, {"grad": brief(grad)}))

    def add(self, kind: str, event: Event, **given: Any) -> None:
        said = {name: brief(value) for name, value in given.items()}
        self.events.append(Event(event.name, kind, event.call, event.depth, said))

    def on_gradients(self, tensors: list[torch.Tensor], event: Event, kind: str, first: bool) -> None:
        """Note the first, or the last, of the gradients of ``tensors`` that arrive."""
        wanted = [tensor for tensor in tensors if tensor.requires_grad]
        arrived: list[int] = []

        def note(grad: torch.Tensor) -> None:
            arrived.append(1)
            if len(arrived) == (1 if first else len(wanted)):
                self.add(kind, event, grad=grad)

        for tensor in wanted:
            tensor.register_hook(note)  # type: ignore[no-untyped-call]


MAX_LANES = 64
"""Deeper levels are left out, and counted in words, where there would be more lanes than this."""

KINDS = {
    "forward_pre": ("forward pre-hook", ">", BLUE, PAPER, 1.0),
    "forward": ("forward hook", "s", BLUE, BLUE, 1.0),
    "backward_pre": ("full backward pre-hook", "<", ORANGE, PAPER, 1.0),
    "backward": ("full backward hook", "D", ORANGE, ORANGE, 0.75),
}
"""The word for it, its mark with the colours of edge and face, and how large that is."""


@in_own_style
def draw_hook_timeline(model: nn.Module, *inputs: Any, title: str | None = None, **keywords: Any) -> Picture:
    """Run a copy of ``model`` once forward and once backward, and draw every module hook in the order it fires.

    One lane a module, the outer ones on top; a line reaches from a module's first hook to its last. Nothing of the
    model, its gradients, its buffers, the inputs or the random generators is changed, and lazy modules stay lazy.
    The model's own hooks do not run. Raises whatever the model raises.
    """
    recorded, note = record_hooks(model, *inputs, **keywords)
    events = [event for event in recorded if event.kind != "parameter"]
    heading = title or f"Hooks of one forward and one backward of {type(model).__name__}"
    kinds = {name: type(module).__name__ for name, module in dict(model.named_modules()).items()}
    seen_by_tensors = note.startswith("in-place")
    labels = {kind: look[0] for kind, look in KINDS.items()}
    if seen_by_tensors:
        labels |= {"backward_pre": "gradient of its output", "backward": "gradient of its input"}
    told = (
        f"{at} {labels[event.kind]} of {f'{event.name}: ' if event.name else ''}{kinds.get(event.name, '?')}"
        for at, event in enumerate(events, 1)
    )
    alt = f"{heading}{f' ({note})' if note else ''}. In this order: {listed(told, 60)}"
    shown, left_out = _what_fits(events)
    notes = [part for part in (note, left_out) if part]
    return _drawn(shown, kinds, labels, heading, notes, alt)


def _what_fits(events: list[Event]) -> tuple[list[Event], str]:
    """The events down to the deepest level with no more than MAX_LANES modules, and what is left out in words."""
    lanes = {event.name: event.depth for event in reversed(events)}
    depth = max(1, deepest(lanes.values(), MAX_LANES))
    kept = {name for name, at in lanes.items() if at <= depth}
    if len(kept) == len(lanes):
        return events, ""
    text = f"{counted(len(lanes) - len(kept), 'module')} below level {depth} not drawn"
    return [event for event in events if event.name in kept], text


def _drawn(
    events: list[Event], kinds: dict[str, str], labels: dict[str, str], heading: str, notes: list[str], alt: str
) -> Picture:
    depth = {event.name: event.depth for event in reversed(events)}
    lanes = list(dict.fromkeys(event.name for event in events))
    words = [f"{cut(name, 30)}: {cut(kinds.get(name, '?'), 26)}".removeprefix(": ") for name in lanes]
    names = ["  " * min(depth[name], 8) + text for name, text in zip(lanes, words, strict=True)]
    pitch, size = _density(len(lanes))
    left = 0.3 + 0.0088 * size * max(map(len, names), default=0)
    room = max(min(0.3 * len(events), max(6.0, 9.2 - left)), 7.2 - left, 2.4)
    notes = [line for note in notes for line in textwrap.wrap(note, round((left + room) / 0.073))]
    head, foot, high = 0.78 + 0.2 * len(notes), 0.62, pitch * max(1, len(lanes))
    picture = Picture(max(left + room + 0.2, 0.3 + 0.092 * len(heading)), head + high + foot, alt)
    tall = picture.titled(heading)
    for number, note in enumerate(notes):
        picture.write(0.15, tall - 0.5 - 0.2 * number, note, fontsize=8.5, color=QUIET)
    axes = picture.inches(left, foot, room, high, facecolor="none")
    axes.set(xlim=(0, len(events) + 1), ylim=(len(lanes) - 0.5, -0.5), xticks=[], frame_on=False)
    axes.set_yticks(range(len(lanes)), names, fontsize=size, family=MONO, color=INK, ha="left")
    axes.tick_params(length=0, pad=72 * (left - 0.15))
    for lane in range(0, len(lanes), 2):
        band = {"color": FAINT, "linewidth": 0, "alpha": 0.6, "zorder": -1, "clip_on": False}
        axes.axhspan(lane - 0.5, lane + 0.5, (0.1 - left) / room, **band)
    _draw_events(axes, events, lanes, labels, room / (len(events) + 1))
    _draw_sides(axes, events, pitch)
    picture.key(len(KINDS))
    return picture


def _density(lanes: int) -> tuple[float, float]:
    """Inches from lane to lane, and the size of their names: less of both where there are many."""
    if lanes <= 16:
        return 0.32, 9.0
    return (0.22, 8.0) if lanes <= 40 else (0.165, 7.0)


def _draw_events(axes: Any, events: list[Event], lanes: list[str], labels: dict[str, str], step: float) -> None:
    """A mark each, with its number where there is room, and a line from a call's first to its last."""
    calls: dict[tuple[int, bool], list[int]] = {}
    for number, event in enumerate(events, 1):
        backward = event.kind.startswith("backward") or (event.call, True) in calls
        calls.setdefault((event.call, backward), []).append(number)
        if step >= 0.16:
            style = {"textcoords": "offset points", "ha": "center", "fontsize": 7, "color": INK}
            axes.annotate(str(number), (number, lanes.index(event.name)), (0, 6), **style)
    for (_, backward), numbers in calls.items():
        lane = lanes.index(events[numbers[0] - 1].name)
        axes.plot([numbers[0], numbers[-1]], [lane] * 2, color=ORANGE if backward else BLUE, linewidth=2.2, zorder=2)
    size = 46.0 if step >= 0.16 else max(9.0, 46 * step / 0.16)
    for kind, (_, marker, colour, face, grows) in KINDS.items():
        numbers = [number for number, event in enumerate(events, 1) if event.kind == kind]
        if numbers:
            rows = [lanes.index(events[number - 1].name) for number in numbers]
            look = {"marker": marker, "facecolor": face, "edgecolor": colour, "linewidth": 1.4 if size > 20 else 0.9}
            axes.scatter(numbers, rows, s=size * grows, zorder=3, clip_on=False, label=labels[kind], **look)


def _draw_sides(axes: Any, events: list[Event], pitch: float) -> None:
    """The words "forward" and "backward" above their part, and a line between."""
    top = -0.5 - 0.14 / pitch
    places = [number for number, event in enumerate(events) if event.kind.startswith("backward")]
    # A checkpoint's second forward comes within backward.
    forward = sum(event.kind.startswith("forward") for event in events[: places[0] if places else None])
    backward = places[-1] + 1 - forward if places else 0
    style: dict[str, Any] = {"ha": "center", "va": "center", "weight": "bold", "fontsize": 9.5}
    if forward:
        axes.text((1 + forward) / 2, top, "forward →", color=BLUE, **style)
    if backward:
        ends = [-0.5 - 0.2 / pitch, axes.get_ylim()[0]]
        axes.plot([forward + 0.5] * 2, ends, color=INK, linewidth=1, clip_on=False, linestyle=(0, (4, 3)), zorder=1)
        axes.text(forward + (1 + backward) / 2, top, "backward →", color=ORANGE, **style)
