"""When hooks fire: one forward and one backward of any module, event after event."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from torch import nn

from course.pictures.canvas import BLUE, FAINT, INK, MONO, ORANGE, PAPER, QUIET, RED, Picture, in_own_style
from course.pictures.recording import Event, record_hooks
from course.pictures.words import amount, cut, listed

__all__ = ["Event", "draw_hook_timeline", "record_hooks"]

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
    from matplotlib.patches import Rectangle

    lanes = list(dict.fromkeys(event.name for event in events))
    depth = {name: min(event.depth for event in events if event.name == name) for name in lanes}
    row = {name: number for number, name in enumerate(lanes)}
    names = [
        "  " * min(depth[name], 8) + (f"{cut(name, 30)}: " if name else "") + cut(kinds.get(name, "?"), 26)
        for name in lanes
    ]
    pitch, size = (0.32, 9.0) if len(lanes) <= 16 else (0.22, 8.0) if len(lanes) <= 40 else (0.165, 7.0)
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
    for number, text in enumerate(names):
        if number % 2 == 0:
            corner = 0.1, foot + pitch * (len(lanes) - number - 1)
            picture.put(Rectangle(corner, left + room - 0.05, pitch, color=FAINT, linewidth=0, alpha=0.6, zorder=-1))
        y = foot + pitch * (len(lanes) - number - 0.5)
        picture.write(0.15, y, text, fontsize=size, family=MONO)
    for start, end, event in _spans(events):
        axes.plot([start, end], [row[event.name]] * 2, color=_KINDS[event.kind][2], linewidth=2.2, zorder=2)
    _draw_marks(axes, events, row, 46.0 if step >= 0.16 else max(9.0, 46 * step / 0.16))
    if step >= 0.16:
        for number, event in enumerate(events, 1):
            axes.annotate(
                str(number), (number, row[event.name]), (0, 6), textcoords="offset points", ha="center", fontsize=7,
                color=INK,
            )  # fmt: skip
    _draw_sides(axes, events, (high - head - foot, pitch))
    _draw_legend(picture, [kind for kind in _KINDS if any(event.kind == kind for event in events)], labels)
    return picture


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
                x, y, s=size * (2.2 if kind == "raised" else 0.75 if marker == "D" else 1), marker=marker,
                facecolor=PAPER if hollow else colour, edgecolor=PAPER if kind == "raised" else colour,
                linewidth=1.4 if size > 20 else 0.9, zorder=3, clip_on=False,
            )  # fmt: skip


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
            [forward + 0.5] * 2, [-0.5 - 0.2 / pitch, high / pitch - 0.5], color=INK, linewidth=1, clip_on=False,
            linestyle=(0, (4, 3)), zorder=1,
        )  # fmt: skip
        axes.text(forward + (1 + backward) / 2, above, "backward →", color=ORANGE, **style)


def _draw_legend(picture: Picture, kinds: list[str], labels: dict[str, str]) -> None:
    axes = picture.sheet(0, 0.1, picture.get_figwidth(), 0.4)
    x = 0.25
    for kind in kinds:
        _, marker, colour, hollow = _KINDS[kind]
        axes.scatter([x], [0.2], s=46, marker=marker, facecolor=PAPER if hollow else colour, edgecolor=colour,
                     linewidth=1.4)  # fmt: skip
        axes.text(x + 0.13, 0.2, labels[kind], va="center", fontsize=8.5, color=INK)
        x += 0.42 + 0.072 * len(labels[kind])
