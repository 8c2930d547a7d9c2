"""A model as a tree: what is registered in it, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from matplotlib.patches import FancyBboxPatch, Patch
from torch import nn
from torch.nn.parameter import is_lazy

from course.pictures.canvas import INK, MONO, PAPER, WIRE, Picture, in_own_style
from course.pictures.words import cut, deepest, level_of, listed
from nbproof.text import counted

__all__ = ["draw_module_tree"]

# Deeper levels are left out, and counted in words, where the tree would have more boxes than this.
_MAX_BOXES = 26
_MAX_SIBLINGS, _MAX_LETTERS = 12, 44
_WRAP = 56  # letters of parameters and buffers side by side, before a new line begins
# The axes are measured in inches, so that text of a fixed-width font has a known size.
_POINTS = 9.0
_CHAR = 0.64 * _POINTS / 72  # 0.602 by the font's own table; screens round it up
_LINE, _PAD, _GAP, _STEP, _MARGIN = 0.215, 0.1, 0.13, 0.4, 0.22
_BADGE = {"boxstyle": "circle,pad=0.28", "facecolor": "#8e1f4f", "edgecolor": PAPER, "linewidth": 1.2}

_LOOKS: dict[str, dict[str, Any]] = {
    "parameter (shape)": {"facecolor": "#ffd9a0", "edgecolor": "#a85b00", "linewidth": 0.9},
    "buffer (shape)": {"facecolor": "#d5e6fb", "edgecolor": "#1f5fa8", "linewidth": 0.9, "linestyle": (0, (3, 1.6))},
    "module": {"facecolor": "#ffffff", "edgecolor": INK, "linewidth": 1.2},
    "container": {"facecolor": "#eceff2", "edgecolor": INK, "linewidth": 1.2},
    "seen before": {"facecolor": "#ffffff", "edgecolor": INK, "linewidth": 1.2, "linestyle": (0, (3, 1.6))},
}


@dataclass
class _Box:
    """One module in words, and its place in inches. Names are dotted, the root's is ''."""

    name: str
    kind: str
    look: str
    x: float
    rows: list[list[tuple[str, str]]] = field(default_factory=list)
    """Its own parameters and buffers, each in words, with its look."""
    note: str = ""
    y: float = 0.0

    @property
    def attribute(self) -> str:
        """``fc: ``; empty for the root."""
        own = cut(self.name.rpartition(".")[2], _MAX_LETTERS)
        return f"{own}: " if own else ""

    @property
    def parts(self) -> list[tuple[str, str]]:
        """All of its own parameters and buffers, as in ``rows``."""
        return list(chain.from_iterable(self.rows))

    @property
    def width(self) -> float:
        letters = [len(self.attribute + self.kind), len(self.note), *map(_letters, self.rows)]
        return max(letters) * _CHAR + 2 * _PAD

    @property
    def height(self) -> float:
        return (1 + len(self.rows) + bool(self.note)) * _LINE + 1.3 * _PAD


@in_own_style
def draw_module_tree(module: nn.Module, numbers: Mapping[str, int] | None = None, title: str | None = None) -> Picture:
    """Draw any module as a tree that grows down, one box a module, each below its parent and a step to the right.

    A box shows the attribute name and the class, below them the module's own parameters (orange)
    and buffers (blue, dashed) with their shapes. A module that is found a second time is marked and
    not opened again; a parameter that is found a second time names its first place. ``numbers`` maps
    dotted names, ``''`` for the root, to a number that is drawn as a badge. Levels that would make too
    many boxes are left out; the box above says how much it holds.
    """
    title = title or type(module).__name__
    numbers = numbers or {}
    edge = _MARGIN
    if numbers:
        edge += 0.12
    levels = [level_of(name) for name, _ in module.named_modules()]
    boxes = list(_boxes(module, "", edge, deepest(levels, _MAX_BOXES), {}))
    looks = {box.look for box in boxes}
    for box in boxes:
        looks |= {look for _, look in box.parts}
    handles = [Patch(**look, label=says) for says, look in _LOOKS.items() if says in looks]
    written = max(sum(0.5 + 0.075 * len(str(one.get_label())) for one in handles), len(title) * _CHAR * 1.25)
    height = sum(box.height + _GAP for box in boxes) - _GAP + 0.82 + 2 * _MARGIN
    what = "the tree with its visit order" if numbers else "the tree"
    alt = f"{title}: {what}, {listed((_in_words(box, numbers) for box in boxes), 40)}"
    width = max(edge + written, *(box.x + box.width for box in boxes)) + _MARGIN
    picture = Picture(width, height, alt)
    axes = picture.sheet(0, 0, width, height)
    picture.write(edge, height - _MARGIN, title, fontsize=11.5, weight="bold", va="top")
    _paint_all(axes, boxes, numbers, height - _MARGIN - 0.4)
    picture.key(len(handles), edge, 0.1, handles)
    return picture


def _paint_all(axes: Any, boxes: list[_Box], numbers: Mapping[str, int], top: float) -> None:
    """One below the other, each with a line from its parent."""
    above: dict[str, _Box] = {}
    for box in boxes:
        box.y = top - box.height / 2
        if box.name:
            parent = above[box.name.rpartition(".")[0]]
            down = parent.x + 0.2
            axes.plot([down, down, box.x], [parent.y, box.y, box.y], color=WIRE, lw=1.3, zorder=1)
        above[box.name] = box
        _paint(axes, box, top, numbers.get(box.name))
        top -= box.height + _GAP


def _boxes(module: nn.Module, name: str, x: float, depth: int, seen: dict[int, str]) -> Iterator[_Box]:
    """This module's box and all below it, parents first. What comes again is told by its first place, from ``seen``."""
    look = "container" if isinstance(module, (nn.Sequential, nn.ModuleList, nn.ModuleDict)) else "module"
    box = _Box(name, cut(type(module).__name__, _MAX_LETTERS), look, x)
    yield box
    if id(module) in seen:
        box.look, box.note = "seen before", f"same object as {cut(seen[id(module)], _MAX_LETTERS) or 'the root'}"
        return
    seen[id(module)] = name
    for text, kind in _held(module, name, seen):
        if box.rows and box.rows[-1][0][1] == kind and _letters(box.rows[-1]) + len(text) <= _WRAP:
            box.rows[-1].append((text, kind))
        else:
            box.rows.append([(text, kind)])
    children = [(f"{name}.{key}".lstrip("."), child) for key, child in module.named_children()]
    shown = children[:_MAX_SIBLINGS] if depth else []
    if len(shown) < len(children):
        hidden = sum(len([*child.modules()]) for _, child in children[len(shown) :])
        box.note = f"+ {counted(hidden, 'more module')} inside"
    for place, child in shown:
        yield from _boxes(child, place, x + _STEP, depth - 1, seen)


def _held(module: nn.Module, name: str, seen: dict[int, str]) -> Iterator[tuple[str, str]]:
    """The module's own parameters and buffers in words, each with its look."""
    for key, value in [*module._parameters.items(), *module._buffers.items()]:
        if value is None:
            continue
        shape = "(not yet known)" if is_lazy(value) else str(tuple(value.shape))
        text = f"{key} = {seen[id(value)]}" if id(value) in seen else f"{key} {shape}"
        seen.setdefault(id(value), f"{name}.{key}".lstrip("."))
        if key not in module._buffers:
            if not value.requires_grad:
                text += " frozen"
            yield text, "parameter (shape)"
        else:
            if key in module._non_persistent_buffers_set:
                text += " not saved"
            yield text, "buffer (shape)"


def _letters(row: list[tuple[str, str]]) -> int:
    return sum(len(text) + 2 for text, _ in row)


def _in_words(box: _Box, numbers: Mapping[str, int]) -> str:
    """``number 3: layer1.0, Linear [weight (3, 3), bias (3,)]``."""
    number = f"number {numbers[box.name]}: " if box.name in numbers else ""
    held = ", ".join(filter(None, [*(text for text, _ in box.parts), box.note]))
    words = f"{number}{box.name or 'root'}, {box.kind}"
    return f"{words} [{held}]" if held else words


def _paint(axes: Any, box: _Box, top: float, number: int | None) -> None:
    corner = box.x + 0.03, top - box.height + 0.03
    rounded = "round,pad=0.03,rounding_size=0.05"
    size = box.width - 0.06, box.height - 0.06
    axes.add_patch(FancyBboxPatch(corner, *size, boxstyle=rounded, zorder=2, **_LOOKS[box.look]))
    style: dict[str, Any] = {"fontsize": _POINTS, "family": MONO, "color": INK, "va": "center", "zorder": 4}
    line, x = top - 0.65 * _PAD - _LINE / 2, box.x + _PAD
    axes.text(x, line, box.attribute, fontweight="bold", **style)
    axes.text(x + len(box.attribute) * _CHAR, line, box.kind, **style)
    for row in box.rows:
        line -= _LINE
        x = box.x + _PAD
        for text, look in row:
            chip = {"boxstyle": "round,pad=0.2,rounding_size=0.3", **_LOOKS[look]}
            axes.text(x + 0.03, line, f" {text} ", bbox=chip, **{**style, "fontsize": _POINTS - 0.8})
            x += (len(text) + 2) * _CHAR
    axes.text(box.x + _PAD, line - _LINE, box.note, fontstyle="italic", **style)
    if number is not None:
        badge = {**style, "family": None, "color": "white", "zorder": 6, "weight": "bold", "ha": "center"}
        axes.text(box.x, top, str(number), bbox=_BADGE, **badge)
