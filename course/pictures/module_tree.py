"""A model as a tree: what is registered in it, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.patches import FancyBboxPatch, Patch
from torch import nn

from course.pictures.canvas import INK, MONO, PAPER, WIRE, Picture, in_own_style
from course.pictures.tree_boxes import Box, tree_of
from course.pictures.words import listed

__all__ = ["draw_module_tree"]

# The axes are measured in inches, so that text of a fixed-width font has a known size.
_POINTS = 9.0
_CHAR = 0.64 * _POINTS / 72  # 0.602 by the font's own table; screens round it up
_LINE, _PAD, _GAP, _STEP, _MARGIN = 0.215, 0.1, 0.13, 0.4, 0.22
_BADGE = "#8e1f4f"

_LOOKS: dict[str, dict[str, Any]] = {
    "parameter (shape)": {"facecolor": "#ffd9a0", "edgecolor": "#a85b00", "linewidth": 0.9},
    "buffer (shape)": {"facecolor": "#d5e6fb", "edgecolor": "#1f5fa8", "linewidth": 0.9, "linestyle": (0, (3, 1.6))},
    "module": {"facecolor": "#ffffff", "edgecolor": INK, "linewidth": 1.2},
    "container": {"facecolor": "#eceff2", "edgecolor": INK, "linewidth": 1.2},
    "seen before": {"facecolor": "#ffffff", "edgecolor": INK, "linewidth": 1.2, "linestyle": (0, (3, 1.6))},
}


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
    root = tree_of(module, numbers or {})
    edge = _MARGIN + (0.12 if numbers else 0)
    tall = -_place(root, edge, 0.0)
    boxes = list(root.walk())
    looks = set[str]().union(*(box.looks for box in boxes))
    handles = [Patch(**look, label=says) for says, look in _LOOKS.items() if says in looks]
    written = edge + max(sum(0.5 + 0.075 * len(str(one.get_label())) for one in handles), len(title) * _CHAR * 1.25)
    height = tall + 0.82 + 2 * _MARGIN
    what = "the tree" if not numbers else "the tree with its visit order"
    alt = f"{title}: {what}, {listed((box.in_words() for box in boxes), 40)}"
    width = max(written, *(box.x + _width(box) for box in boxes)) + _MARGIN
    picture = Picture(width, height, alt)
    axes = picture.sheet(0, 0, width, height, y=_MARGIN + 0.4 - height)
    picture.write(edge, height - _MARGIN, title, fontsize=11.5, weight="bold", va="top")
    for box in boxes:
        _paint(axes, box)
    picture.key(len(handles), edge, 0.1, handles)
    return picture


def _width(box: Box) -> float:
    return box.letters * _CHAR + 2 * _PAD


def _height(box: Box) -> float:
    return box.lines * _LINE + 1.3 * _PAD


def _place(box: Box, x: float, top: float) -> float:
    """Give the box a place, its children places below it and a step to the right. Returns the lower end."""
    box.x, box.y = x, top - _height(box) / 2
    bottom = top - _height(box)
    for child in box.children:
        bottom = _place(child, x + _STEP, bottom - _GAP)
    return bottom


def _paint(axes: Any, box: Box) -> None:
    high = _height(box)
    for child in box.children:
        axes.plot([box.x + 0.2, box.x + 0.2, child.x], [box.y, child.y, child.y], color=WIRE, lw=1.3, zorder=1)
    _frame(axes, box.x, box.y - high / 2, _width(box), high, box.look, zorder=2)
    style: dict[str, Any] = {"fontsize": _POINTS, "family": MONO, "color": INK, "va": "center", "zorder": 4}
    top = box.y + high / 2
    line, x = top - 0.65 * _PAD - _LINE / 2, box.x + _PAD
    if box.attribute:
        axes.text(x, line, f"{box.attribute}:", fontweight="bold", **style)
        x += (len(box.attribute) + 2) * _CHAR
    axes.text(x, line, box.kind, **style)
    for row in box.rows:
        line -= _LINE
        x = box.x + _PAD
        for chip in row:
            wide = (len(chip.text) + 0.3) * _CHAR
            _frame(axes, x, line - 0.4 * _LINE, wide, 0.8 * _LINE, chip.look, zorder=3)
            axes.text(x + wide / 2, line, chip.text, ha="center", **{**style, "fontsize": _POINTS - 0.8})
            x += wide + 1.7 * _CHAR
    for note in box.notes:
        line -= _LINE
        axes.text(box.x + _PAD, line, note, fontstyle="italic", **style)
    if box.number is not None:
        badge = {"boxstyle": "circle,pad=0.28", "facecolor": _BADGE, "edgecolor": PAPER, "linewidth": 1.2}
        badge_style = {**style, "family": None, "color": "white", "zorder": 6, "weight": "bold", "ha": "center"}
        axes.text(box.x, top, str(box.number), bbox=badge, **badge_style)


def _frame(axes: Any, x: float, y: float, width: float, height: float, look: str, zorder: int) -> None:
    inner = (x + 0.03, y + 0.03), width - 0.06, height - 0.06
    rounded = "round,pad=0.03,rounding_size=0.05"
    axes.add_patch(FancyBboxPatch(*inner, boxstyle=rounded, zorder=zorder, **_LOOKS[look]))
