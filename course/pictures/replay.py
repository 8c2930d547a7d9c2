"""One forward and one backward of any model, hook after hook, to step through: HTML and CSS, no script.

Each call of a module is a box with four doors, one for each kind of hook. There is a radio button for each step, and which
one is pressed says, by CSS alone, what is written above and which doors are filled. The colours follow the page's own. Where
a page takes styles and drawings away, as JupyterLab does with what it does not trust, the steps are left, as a list.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from torch import nn

from course.pictures.timeline import Event, record_hooks
from course.pictures.words import cut, deepest, listed

__all__ = ["Replay", "replay"]

MAX_BOXES = 24
"""Deeper levels are left out where there would be more boxes than this."""

_MAY = {
    "forward_pre": ("forward pre-hook", "new args, a tuple"),
    "forward": ("forward hook", "a new output"),
    "backward_pre": ("full backward pre-hook", "a new grad_output, a tuple"),
    "backward": ("full backward hook", "a new grad_input, a tuple with one entry for each positional input"),
    "parameter": ("tensor hook", "a new gradient"),
}
"""What a hook of this kind is called, and what it may return."""

_LINE, _LANE, _DOOR, _GAP = 15, 30, 9, 34


@dataclass(repr=False)
class Replay:
    """What to show in a notebook, and the same in words."""

    html: str
    alt: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.alt


@dataclass
class _Box:
    """One call of a module: where it stands, and what is inside."""

    name: str
    kind: str
    call: int
    grads: dict[str, str]
    """What will be the gradient of its own parameters, by their dotted names; '' for none."""
    inside: list[_Box] = field(default_factory=list)
    x: int = 0
    y: int = 0

    @property
    def lines(self) -> list[str]:
        """What is written in the box: its name, and its parameters."""
        own = [f"{name.rpartition('.')[2]}.grad" for name in self.grads]
        return [cut(f"{self.name}: {self.kind}".removeprefix(": "), 40), *own]

    @property
    def width(self) -> int:
        longest = max((len(grad) for grad in self.grads.values()), default=0)
        words = max(8 * len(self.lines[0]), *(7 * (len(line) + longest + 1) for line in self.lines[1:]), 60)
        return max(44 + words, self.filled + _GAP if self.inside else 0)

    @property
    def filled(self) -> int:
        """The width of what is inside, with a gap before each box."""
        return sum(box.width + _GAP for box in self.inside)

    @property
    def head(self) -> int:
        return _LANE + 6 + _LINE * len(self.lines)

    @property
    def height(self) -> int:
        return self.head + max((box.height + 8 for box in self.inside), default=0) + _LANE

    def put(self, x: int, y: int) -> None:
        """Give this box its place, and the boxes inside theirs, from left to right as they are called."""
        self.x, self.y = x, y
        at = x + _GAP + (self.width - self.filled - _GAP) // 2
        for box in self.inside:
            box.put(at, y + self.head)
            at += box.width + _GAP

    def walk(self) -> Iterator[_Box]:
        yield self
        for box in self.inside:
            yield from box.walk()

    def door(self, kind: str) -> tuple[int, int]:
        """Where this kind of hook sits: forward runs above from left to right, backward below the other way."""
        left, up = kind in ("forward_pre", "backward"), kind.startswith("forward")
        return self.x + (0 if left else self.width), self.y + (_LANE // 2 + 4 if up else self.height - _LANE // 2 - 4)


def replay(model: nn.Module, *inputs: Any, **keywords: Any) -> Replay:
    """Run a copy of ``model`` once forward and once backward, and let the reader step through every hook that ran.

    For each step: which hook, what it got, what it may return, and which parameters' gradients are there. Backward starts
    at the summed output. Nothing of the model, its gradients, the inputs or the random generators is changed, and the
    model's own hooks do not run.
    """
    events, note = record_hooks(model, *inputs, **keywords)
    heading = f"One forward and one backward of {type(model).__name__}"
    roots, events, left_out = _boxes(model, events)
    told = [_told(model, event) for event in events]
    notes = [part for part in (note, left_out) if part]
    alt = ". ".join([heading, *notes, f"In this order: {listed(told, 60)}" if told else "Nothing ran"])
    return Replay(_page(f"replay-{secrets.token_hex(4)}", heading, notes, roots, events, told), alt)


def _boxes(model: nn.Module, events: list[Event]) -> tuple[list[_Box], list[Event], str]:
    """The calls as boxes in boxes, the events that have a place there, and what is left out, in words."""
    begun = [event for event in events if event.kind == "forward_pre"]
    grads = {event.name: _in_a_box(event.given["grad"]) for event in events if event.kind == "parameter"}
    depth = deepest((event.depth for event in begun), MAX_BOXES)
    roots = _tree(model, [event for event in begun if event.depth <= depth], grads)
    drawn = [box for root in roots for box in root.walk()]
    calls, parameters = {box.call for box in drawn}, {name for box in drawn for name in box.grads}
    kept = [one for one in events if one.call in calls or (one.kind == "parameter" and one.name in parameters)]
    hidden = len(begun) - len(drawn)
    return roots, kept, f"{hidden} calls deeper inside are not drawn" if hidden else ""


def _tree(model: nn.Module, begun: list[Event], grads: Mapping[str, str]) -> list[_Box]:
    modules = dict(model.named_modules())
    roots: list[_Box] = []
    path: list[_Box] = []
    for event in begun:
        module = modules.get(event.name, model)
        own = [f"{event.name}.{name}".lstrip(".") for name, _ in module.named_parameters(recurse=False)]
        box = _Box(event.name, type(module).__name__, event.call, {name: grads.get(name, "") for name in own})
        path = path[: event.depth]
        (path[-1].inside if path else roots).append(box)
        path.append(box)
    return roots


def _in_a_box(grad: str) -> str:
    """``norm 0.71``, ``[2]``: as much of a gradient as there is room for."""
    return cut(grad.rpartition("), ")[2].removeprefix("tensor(").removesuffix(")"), 22)


def _told(model: nn.Module, event: Event) -> str:
    """``forward hook of 0, a Linear``."""
    if event.kind == "parameter":
        return f"the gradient of {event.name} is there"
    kind = type(dict(model.named_modules()).get(event.name, model)).__name__
    hook = _MAY[event.kind][0]
    if "grad" in event.given:  # full backward hooks and in-place operations do not go together
        hook = f"tensor hook on the {'output' if event.kind == 'backward_pre' else 'input'}"
    return f"{hook} of {f'{event.name}: ' if event.name else ''}{kind}"


def _page(key: str, heading: str, notes: list[str], roots: list[_Box], events: list[Event], told: list[str]) -> str:
    radios = "".join(
        f'<input type="radio" name="{key}" id="{key}-{at}" aria-label="step {at}: {escape(words)}"{" checked" * (at == 1)}>'
        for at, words in enumerate(told, 1)
    )
    says = "".join(
        f'<div class="s s{at}">{_buttons(key, at, len(events))}{_caption(event, words)}</div>'
        for at, (event, words) in enumerate(zip(events, told, strict=True), 1)
    )
    words = "".join(f'<div style="font-size:.9em;opacity:.8">{escape(note)}</div>' for note in notes)
    return (
        f'<div id="{key}" role="group" aria-label="{escape(heading)}"><style>{_css(key, len(events))}</style>'
        f'<b>{escape(heading)}</b>{words}<div>{radios}<div class="stage">{says}{_drawing(roots, events)}</div></div></div>'
    )


def _buttons(key: str, at: int, count: int) -> str:
    back, onward = max(1, at - 1), min(count, at + 1)
    return (
        f'<label for="{key}-{back}" title="one step back">◀ back</label> <label for="{key}-{onward}" title="one step on">'
        f"next ▶</label> step {at} of {count}: "
    )


def _caption(event: Event, words: str) -> str:
    gets = "; ".join(f"<code>{name} = {escape(value)}</code>" for name, value in event.given.items())
    who = "a tensor hook on it" if event.kind == "parameter" else "it"
    if "grad" in event.given:
        return f"<b>{escape(words)}</b><br>{who} gets {gets}<br>and may return {_MAY['parameter'][1]}"
    return f"<b>{escape(words)}</b><br>it gets <code>module</code>; {gets}<br>and may return {_MAY[event.kind][1]}"


def _css(key: str, count: int) -> str:
    """Which step's words, door and gradient are seen follows from which radio button is pressed."""
    blue, orange = (f"color-mix(in srgb,{colour} 70%,currentColor)" for colour in ("#2f7bd9", "#d9661a"))
    rules = [
        "{overflow-x:auto;line-height:1.5}",
        " input{margin:0 1px}",
        " .s{display:none;min-height:5.2em;padding:.3em 0}",
        " label{cursor:pointer;border:1px solid;border-radius:4px;padding:0 .5em}",
        " svg{display:block;fill:none;stroke:currentColor;width:100%;height:auto}",
        " text{fill:currentColor;stroke:none;font-size:13px;font-family:sans-serif}",
        f" .f{{stroke:{blue}}}",
        f" .b{{stroke:{orange}}}",
        f" circle.f.on{{fill:{blue}}}",
        f" circle.b.on{{fill:{orange}}}",
        f" text.b{{fill:{orange};stroke:none;font-weight:600}}",
        " .on{display:none}",
    ]
    for at in range(1, count + 1):
        rules.append(f"-{at}:checked~.stage .s{at},#{key}-{at}:checked~.stage .l{at}{{display:block}}")
        rules.append(f"-{at}:checked~.stage .p{at},#{key}-{at}~:checked~.stage .p{at}{{display:block}}")
    return "".join(f"#{key}{rule}" for rule in rules)


def _drawing(roots: list[_Box], events: list[Event]) -> str:
    at = 14
    for root in roots:
        root.put(at, 4)
        at += root.width + _GAP
    boxes = [box for root in roots for box in root.walk()]
    high = max((box.y + box.height for box in roots), default=0) + 6
    shapes = [part for box in boxes for part in _box_drawn(box)]
    for step, event in enumerate(events, 1):
        shapes += _step_drawn(boxes, event, step)
    # Where there is little room it shrinks, as long as its words can be read; then it scrolls.
    size = f"max-width:{at}px;min-width:{round(0.65 * at)}px"
    return f'<svg style="{size}" viewBox="0 0 {at} {high}" aria-hidden="true">{"".join(shapes)}</svg>'


def _box_drawn(box: _Box) -> Iterator[str]:
    yield f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}" rx="6" opacity=".55"/>'
    for side, start, end in (("f", "forward_pre", "forward"), ("b", "backward_pre", "backward")):
        (x, y), (to, _) = box.door(start), box.door(end)
        on = 1 if to > x else -1
        near, tip = x + on * (_DOOR + 6), to - on * (_DOOR + 6)
        yield f'<path class="{side}" opacity=".5" d="M{near} {y}H{tip}m{-6 * on} -4l{6 * on} 4l{-6 * on} 4"/>'
    for place, line in enumerate(box.lines):
        bold = ' font-weight="700"' if place == 0 else ""
        yield f'<text x="{box.x + 20}" y="{box.y + _LANE + 10 + _LINE * place}"{bold}>{escape(line)}</text>'


def _step_drawn(boxes: list[_Box], event: Event, step: int) -> Iterator[str]:
    """The door of one step, empty, then filled from that step on, and large at the step itself; or a gradient."""
    if event.kind == "parameter":
        for box in (one for one in boxes if event.name in one.grads):
            x, y = box.x + box.width - 16, box.y + _LANE + 10 + _LINE * ([*box.grads].index(event.name) + 1)
            words = escape(box.grads[event.name])
            yield f'<text class="b on p{step}" x="{x}" y="{y}" text-anchor="end">{words}</text>'
        return
    box = next(one for one in boxes if one.call == event.call)
    x, y = box.door(event.kind)
    side = "f" if event.kind.startswith("forward") else "b"
    yield f'<circle class="{side}" cx="{x}" cy="{y}" r="{_DOOR}"/>'
    yield f'<circle class="{side} on p{step}" cx="{x}" cy="{y}" r="{_DOOR - 3}"/>'
    yield f'<circle class="{side} on l{step}" cx="{x}" cy="{y}" r="{_DOOR + 2}"/>'
