"""When hooks fire: one forward and one backward of any module, event after event.

The run is a copy's: nothing of the model, its gradients, its buffers, the inputs or the random generators is changed.
"""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from course.pictures.canvas import BLUE, FAINT, INK, MONO, ORANGE, PAPER, QUIET, RED, Picture, in_own_style
from course.pictures.doubles import double_of, quietly, spare_copy, tensors_in
from course.pictures.words import amount, cut, in_brief, listed

__all__ = ["Event", "draw_hook_timeline", "record_hooks"]


_OWN = "full backward hooks"
_TENSORS = "tensor hooks on inputs and outputs"


@dataclass(frozen=True)
class Event:
    """One hook call: on which module (dotted name, '' is the root), of which kind, within which call, how deep."""

    name: str
    kind: str
    """forward_pre, forward, backward_pre or backward; raised where an error ended the run."""
    call: int
    """The number of the module's call, counted over all modules from 0. A reused module has several."""
    depth: int


def record_hooks(model: nn.Module, *inputs: Any, **keywords: Any) -> tuple[list[Event], str]:
    """The events of one ``model(*inputs, **keywords)`` and one backward of its summed output, and a note ('' for none).

    The hooks are the recording's own; those of the model's owner do not run. In-place operations forbid full backward
    hooks; where torch says so, tensor hooks on the modules' inputs and outputs take their place. An error of the model
    ends the recording: the last event's kind is then ``raised``, and the note names the error.
    """
    events, error = _recorded(model, inputs, keywords, _OWN)
    if error is None or not (isinstance(error, RuntimeError) and "BackwardHookFunction" in str(error)):
        return events, _note(events, error)
    events, error = _recorded(model, inputs, keywords, _TENSORS)
    return events, _note(events, error) or f"in-place operations: backward seen by {_TENSORS}"


def _note(events: list[Event], error: Exception | None) -> str:
    if error is not None:
        where = events[-1].name
        side = "forward" if all(event.kind.startswith("forward") for event in events[:-1]) else "the run"
        return f"{side} stops{f' in {where}' if where else ''}: {in_brief(error)}"
    if not any(event.kind.startswith("backward") for event in events):
        return "no backward: nothing requires a gradient"
    return ""


def _recorded(
    model: nn.Module, inputs: tuple[Any, ...], keywords: Mapping[str, Any], how: str
) -> tuple[list[Event], Exception | None]:
    recorder = _Recorder(how)
    try:
        with contextlib.ExitStack() as hooks:
            hooks.enter_context(quietly())
            double = double_of(model)
            for name, module in double.named_modules():
                recorder.watch(hooks, name, module)
            output = double(*spare_copy(inputs), **spare_copy(dict(keywords)))
            recorder.open.clear()
            outputs = [tensor for tensor in tensors_in(output) if tensor.requires_grad]
            if outputs:
                # autograd.grad, not backward: what the model shares with others, a global tensor, keeps its .grad.
                # All leaves are asked for, so all of the graph runs.
                torch.autograd.grad(
                    outputs, _leaves(outputs), [torch.ones_like(tensor) for tensor in outputs], allow_unused=True
                )
    except Exception as error:
        at = recorder.innermost()
        recorder.events.append(Event(at.name, "raised", at.call, at.depth))
        return recorder.events, error
    return recorder.events, None


class _Recorder:
    """Hooks that write down when they are called."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.events: list[Event] = []
        self.open: list[Event] = []
        """The modules whose forward has begun and not ended, outer ones first."""
        self.calls = 0

    def innermost(self) -> Event:
        """Where the run is: in the forward that began last, or in the backward that began last."""
        if self.open:
            return self.open[-1]
        ended = {event.call for event in self.events if event.kind == "backward"}
        begun = [event for event in self.events if event.kind == "backward_pre" and event.call not in ended]
        return begun[-1] if begun else Event("", "raised", 0, 0)

    def watch(self, stack: contextlib.ExitStack, name: str, module: nn.Module) -> None:
        """Hook one module until the stack unwinds."""
        waiting: list[Event] = []
        """The module's calls whose backward has not come yet."""
        started: list[Event] = []

        def before(module: nn.Module, args: Any, kwargs: Any) -> None:
            event = Event(name, "forward_pre", self.calls, len(self.open))
            self.calls += 1
            self.open.append(event)
            self.events.append(event)
            if self.how == _TENSORS:
                self.on_gradients(tensors_in([args, kwargs]), event, "backward", first=False)

        def after(module: nn.Module, args: Any, output: Any) -> None:
            event = self.open.pop()
            self.add("forward", event)
            waiting.append(event)
            if self.how == _TENSORS:
                self.on_gradients(tensors_in(output), event, "backward_pre", first=True)

        def backward_before(module: nn.Module, grad_output: Any) -> None:
            # Of a reused module the last call is the first that backward comes to.
            if waiting:
                started.append(waiting.pop())
                self.add("backward_pre", started[-1])

        def backward_after(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
            if started:
                self.add("backward", started.pop(0))

        # First of all, before what makes a lazy module initialize itself: that runs a module as well.
        stack.callback(module.register_forward_pre_hook(before, prepend=True, with_kwargs=True).remove)
        stack.callback(module.register_forward_hook(after).remove)
        if self.how == _OWN:
            stack.callback(module.register_full_backward_pre_hook(backward_before).remove)
            stack.callback(module.register_full_backward_hook(backward_after).remove)

    def add(self, kind: str, event: Event) -> None:
        self.events.append(Event(event.name, kind, event.call, event.depth))

    def on_gradients(self, tensors: list[torch.Tensor], event: Event, kind: str, first: bool) -> None:
        """Note the first, or the last, of the gradients of ``tensors`` that arrive."""
        wanted = [tensor for tensor in tensors if tensor.requires_grad]
        arrived: list[int] = []

        def note(grad: torch.Tensor) -> None:
            arrived.append(1)
            if len(arrived) == (1 if first else len(wanted)):
                self.add(kind, event)

        for tensor in wanted:
            tensor.register_hook(note)  # type: ignore[no-untyped-call]


def _leaves(outputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Every leaf that a backward from ``outputs`` reaches, found on the graph that was recorded."""
    found: dict[int, torch.Tensor] = {id(one): one for one in outputs if one.grad_fn is None}
    nodes = [one.grad_fn for one in outputs if one.grad_fn is not None]
    seen = set(nodes)
    while nodes:
        node = nodes.pop()
        if hasattr(node, "variable"):
            found[id(node.variable)] = node.variable
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                nodes.append(following)
    return list(found.values())


MAX_LANES = 64
"""Deeper levels are left out, and counted in words, where there would be more lanes than this."""

_KINDS = {
    "forward_pre": ("forward pre-hook", ">", BLUE, True),
    "forward": ("forward hook", "s", BLUE, False),
    "backward_pre": ("full backward pre-hook", "<", ORANGE, True),
    "backward": ("full backward hook", "D", ORANGE, False),
    "raised": ("an error is raised", "X", RED, False),
}


@in_own_style
def draw_hook_timeline(model: nn.Module, *inputs: Any, title: str | None = None, **keywords: Any) -> Picture:
    """Run a copy of ``model`` once forward and once backward, and draw every module hook in the order it fires.

    One lane a module, the outer ones on top; a line reaches from a module's first hook to its last. Nothing of the
    model, its gradients, its buffers, the inputs or the random generators is changed, and lazy modules stay lazy.
    The model's own hooks do not run. An error of the model is part of the picture.
    """
    events, note = record_hooks(model, *inputs, **keywords)
    heading = title or f"Hooks of one forward and one backward of {type(model).__name__}"
    kinds = {name: type(module).__name__ for name, module in dict(model.named_modules()).items()}
    seen_by_tensors = note.startswith("in-place")
    labels = {kind: look[0] for kind, look in _KINDS.items()}
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
    for depth in range(max(lanes.values(), default=0), 0, -1):
        kept = [name for name, at in lanes.items() if at <= depth]
        if len(kept) <= MAX_LANES or depth == 1:
            if len(kept) == len(lanes):
                break
            text = f"{amount(len(lanes) - len(kept), 'module')} below level {depth} not drawn"
            return [event for event in events if event.name in kept or event.kind == "raised"], text
    return events, ""


def _drawn(
    events: list[Event], kinds: dict[str, str], labels: dict[str, str], heading: str, notes: list[str], alt: str
) -> Picture:
    lanes = list(dict.fromkeys(event.name for event in events))
    row = {name: number for number, name in enumerate(lanes)}
    names = _lane_names(events, kinds)
    pitch, size = _density(len(lanes))
    left = 0.3 + 0.0088 * size * max(map(len, names), default=0)
    room = max(min(0.3 * len(events), max(6.0, 9.2 - left)), 7.2 - left, 2.4)
    step = room / (len(events) + 1)
    notes = [line for note in notes for line in textwrap.wrap(note, round((left + room) / 0.073))]
    head, foot = 0.78 + 0.2 * len(notes), 0.62
    high = head + pitch * max(1, len(lanes)) + foot
    picture = Picture(max(left + room + 0.2, 0.3 + 0.092 * len(heading)), high, alt)
    picture.write(0.15, high - 0.24, heading, fontsize=11.5, weight="bold")
    for number, note in enumerate(notes):
        picture.write(0.15, high - 0.5 - 0.2 * number, note, fontsize=8.5, color=QUIET)
    axes = picture.inches(left, foot, room, high - head - foot, facecolor="none")
    axes.set(xlim=(0, len(events) + 1), ylim=(len(lanes) - 0.5, -0.5))
    axes.axis("off")
    _write_lanes(picture, names, left + room - 0.05, (foot, pitch, size))
    for start, end, event in _spans(events):
        axes.plot([start, end], [row[event.name]] * 2, color=_KINDS[event.kind][2], linewidth=2.2, zorder=2)
    numbered = step >= 0.16
    _draw_marks(axes, events, row, 46.0 if numbered else max(9.0, 46 * step / 0.16))
    if numbered:
        _number_events(axes, events, row)
    _draw_sides(axes, events, (high - head - foot, pitch))
    drawn = {event.kind for event in events}
    _draw_legend(picture, [kind for kind in _KINDS if kind in drawn], labels)
    return picture


def _lane_names(events: list[Event], kinds: dict[str, str]) -> list[str]:
    """What is written before each lane: indented by depth, the module's name and its class."""
    depth: dict[str, int] = {}
    for event in events:
        depth[event.name] = min(event.depth, depth.get(event.name, event.depth))
    names = []
    for name, deep in depth.items():
        own = f"{cut(name, 30)}: " if name else ""
        names.append("  " * min(deep, 8) + own + cut(kinds.get(name, "?"), 26))
    return names


def _density(lanes: int) -> tuple[float, float]:
    """Inches from lane to lane, and the size of their names: less of both where there are many."""
    if lanes <= 16:
        return 0.32, 9.0
    return (0.22, 8.0) if lanes <= 40 else (0.165, 7.0)


def _write_lanes(picture: Picture, names: list[str], wide: float, measures: tuple[float, float, float]) -> None:
    """The names, every other one on a band. ``measures``: below the lowest lane, from lane to lane, size of the words."""
    from matplotlib.patches import Rectangle

    foot, pitch, size = measures
    for number, text in enumerate(names):
        below = foot + pitch * (len(names) - number - 1)
        if number % 2 == 0:
            picture.put(Rectangle((0.1, below), wide, pitch, color=FAINT, linewidth=0, alpha=0.6, zorder=-1))
        picture.write(0.15, foot + pitch * (len(names) - number - 0.5), text, fontsize=size, family=MONO)


def _number_events(axes: Any, events: list[Event], row: dict[str, int]) -> None:
    style: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": 7, "color": INK}
    for number, event in enumerate(events, 1):
        axes.annotate(str(number), (number, row[event.name]), (0, 6), **style)


def _spans(events: list[Event]) -> Iterator[tuple[int, int, Event]]:
    """Lines: from a call's first event to its last, forward and backward apart, as (start, end, first event)."""
    begun: dict[tuple[int, bool], tuple[int, Event]] = {}
    for number, event in enumerate(events, 1):
        backward = event.kind.startswith("backward") or (event.kind == "raised" and (event.call, True) in begun)
        key = (event.call, backward)
        if key in begun:
            start, first = begun.pop(key)
            yield start, number, first
        else:
            begun[key] = (number, event)


def _draw_marks(axes: Any, events: list[Event], row: dict[str, int], size: float) -> None:
    for kind, (_, marker, colour, hollow) in _KINDS.items():
        places = [(number, row[event.name]) for number, event in enumerate(events, 1) if event.kind == kind]
        if places:
            x, y = zip(*places, strict=True)
            axes.scatter(
                x,
                y,
                s=size * (2.2 if kind == "raised" else 0.75 if marker == "D" else 1),
                marker=marker,
                facecolor=PAPER if hollow else colour,
                edgecolor=PAPER if kind == "raised" else colour,
                linewidth=1.4 if size > 20 else 0.9,
                zorder=3,
                clip_on=False,
            )


def _draw_sides(axes: Any, events: list[Event], measures: tuple[float, float]) -> None:
    """The words "forward" and "backward" above their part, and a line between."""
    high, pitch = measures
    above = -0.5 - 0.14 / pitch
    forward = sum(event.kind.startswith("forward") for event in events)
    backward = sum(event.kind.startswith("backward") for event in events)
    style: dict[str, Any] = {"ha": "center", "va": "center", "weight": "bold", "fontsize": 9.5}
    if forward:
        axes.text((1 + forward) / 2, above, "forward →", color=BLUE, **style)
    if backward:
        axes.plot(
            [forward + 0.5] * 2,
            [-0.5 - 0.2 / pitch, high / pitch - 0.5],
            color=INK,
            linewidth=1,
            clip_on=False,
            linestyle=(0, (4, 3)),
            zorder=1,
        )
        axes.text(forward + (1 + backward) / 2, above, "backward →", color=ORANGE, **style)


def _draw_legend(picture: Picture, kinds: list[str], labels: dict[str, str]) -> None:
    axes = picture.sheet(0, 0.1, picture.get_figwidth(), 0.4)
    x = 0.25
    for kind in kinds:
        _, marker, colour, hollow = _KINDS[kind]
        axes.scatter(
            [x], [0.2], s=46, marker=marker, facecolor=PAPER if hollow else colour, edgecolor=colour, linewidth=1.4
        )
        axes.text(x + 0.13, 0.2, labels[kind], va="center", fontsize=8.5, color=INK)
        x += 0.42 + 0.072 * len(labels[kind])
