"""A model as a tree: what is registered in it, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from course.pictures.canvas import INK, MONO, PAPER, WIRE, Picture, in_own_style
from course.pictures.tree_boxes import Box, tree_of
from course.pictures.words import listed

__all__ = ["draw_module_tree"]

# The axes are measured in inches, so that text of a fixed-width font has a known size.
_POINTS = 9.0
_CHAR = 0.64 * _POINTS / 72  # 0.602 by the font's own table; screens round it up
_LINE = 0.215
_PAD = 0.1
_GAP_X, _GAP_Y, _STEP = 0.45, 0.13, 0.4
_MARGIN = 0.22
_MAX_WIDTH = 9.6
"""A tree that would be wider than this grows down instead, as an outline."""

_BOX, _CONTAINER = "#ffffff", "#eceff2"
_PARAMETER, _PARAMETER_EDGE = "#ffd9a0", "#a85b00"
_BUFFER, _BUFFER_EDGE = "#d5e6fb", "#1f5fa8"
_BADGE = "#8e1f4f"


@in_own_style
def draw_module_tree(module: nn.Module, numbers: Mapping[str, int] | None = None, title: str | None = None) -> Picture:
    """Draw any module as a tree that grows to the right, one box a module; a deep one as an outline that grows down.

    A box shows the attribute name and the class, below them the module's own parameters (orange)
    and buffers (blue, dashed) with their shapes. A module that is found a second time is marked and
    not opened again; a parameter that is found a second time names its first place. ``numbers`` maps
    dotted names, ``''`` for the root, to a number that is drawn as a badge. Levels that would make too
    many boxes are left out; the box above says how much it holds, and which numbers.
    """
    root = tree_of(module, numbers or {})
    edge = _MARGIN + (0.12 if numbers else 0)
    columns = _columns(root)
    starts, x = [], edge
    for column in columns:
        starts.append(x)
        x += max(_width(box) for box in column) + _GAP_X
    right = x - _GAP_X
    outline = right + _MARGIN > _MAX_WIDTH
    boxes = list(root.walk())
    if outline:
        bottom = _list(root, edge, 0.0)
        right, tall = max(box.x + _width(box) for box in boxes), -bottom
    else:
        tall = _span(root)
        _place(root, starts, 0, 0.0)
    legend = _legend_entries(boxes)
    heading = 0.4 if title else 0.0
    width = max(right, edge + sum(wide for *_, wide in legend), edge + len(title or "") * _CHAR * 1.25) + _MARGIN
    height = tall + heading + 0.42 + 2 * _MARGIN
    for box in boxes:
        box.y += height - _MARGIN - heading
    what = "the tree" if not numbers else "the tree with its visit order"
    alt = f"{title or type(module).__name__}: {what}, {listed((box.in_words() for box in boxes), 40)}"
    picture = Picture(width, height, alt)
    axes = picture.sheet(0, 0, width, height)
    if title:
        axes.text(edge, height - _MARGIN, title, fontsize=11.5, fontweight="bold", color=INK, va="top")
    for box in boxes:
        _paint(axes, box, outline)
    _legend(axes, edge, legend)
    return picture


def _width(box: Box) -> float:
    return box.letters * _CHAR + 2 * _PAD


def _height(box: Box) -> float:
    return box.lines * _LINE + 1.3 * _PAD


def _span(box: Box) -> float:
    """The height of the box with everything that stands to its right."""
    return max(_height(box), _below(box))


def _below(box: Box) -> float:
    return sum(_span(child) for child in box.children) + _GAP_Y * max(0, len(box.children) - 1)


def _columns(root: Box) -> list[list[Box]]:
    columns = [[root]]
    while below := [child for box in columns[-1] for child in box.children]:
        columns.append(below)
    return columns


def _place(box: Box, starts: list[float], column: int, top: float) -> None:
    """Give the box and everything to its right a place: ``x`` the left edge, ``y`` the middle, 0 the top."""
    box.x, box.y = starts[column], top - _span(box) / 2
    top -= (_span(box) - _below(box)) / 2
    for child in box.children:
        _place(child, starts, column + 1, top)
        top -= _span(child) + _GAP_Y


def _list(box: Box, x: float, top: float) -> float:
    """Give the box a place, its children places below it and a step to the right. Returns the lower end."""
    box.x, box.y = x, top - _height(box) / 2
    bottom = top - _height(box)
    for child in box.children:
        bottom = _list(child, x + _STEP, bottom - _GAP_Y)
    return bottom


def _paint(axes: Any, box: Box, outline: bool) -> None:
    wide, high = _width(box), _height(box)
    for child in box.children:
        if outline:
            x = box.x + 0.2
            points = [x, x, child.x], [box.y, child.y, child.y]
        else:
            x = child.x - _GAP_X * 0.55
            points = [box.x + wide, x, x, child.x], [box.y, box.y, child.y, child.y]
        axes.plot(*points, color=WIRE, lw=1.3, zorder=1)
    top = box.y + high / 2
    _frame(
        axes,
        box.x,
        box.y - high / 2,
        wide,
        high,
        face=_CONTAINER if box.container else _BOX,
        edge=INK,
        dashed=box.shared,
        zorder=2,
    )
    line = top - 0.65 * _PAD - _LINE / 2
    style: dict[str, Any] = {"fontsize": _POINTS, "family": MONO, "color": INK, "va": "center", "zorder": 4}
    x = box.x + _PAD
    if box.attribute:
        axes.text(x, line, f"{box.attribute}:", fontweight="bold", **style)
        x += (len(box.attribute) + 2) * _CHAR
    axes.text(x, line, box.kind, **style)
    for row in box.rows:
        line -= _LINE
        x = box.x + _PAD
        for chip in row:
            wide = len(chip.text) * _CHAR
            _chip_frame(axes, x, line, wide, chip.buffer)
            axes.text(
                x + (wide + 0.3 * _CHAR) / 2, line, chip.text, ha="center", **{**style, "fontsize": _POINTS - 0.8}
            )
            x += wide + 2 * _CHAR
    for note in box.notes:
        line -= _LINE
        axes.text(box.x + _PAD, line, note, fontstyle="italic", **style)
    if box.number is not None:
        axes.text(
            box.x,
            top,
            str(box.number),
            fontsize=_POINTS,
            fontweight="bold",
            color="white",
            ha="center",
            va="center",
            zorder=6,
            bbox={"boxstyle": "circle,pad=0.28", "facecolor": _BADGE, "edgecolor": PAPER, "linewidth": 1.2},
        )


def _chip_frame(axes: Any, x: float, middle: float, width: float, buffer: bool) -> None:
    _frame(
        axes,
        x,
        middle - 0.4 * _LINE,
        width + 0.3 * _CHAR,
        0.8 * _LINE,
        face=_BUFFER if buffer else _PARAMETER,
        edge=_BUFFER_EDGE if buffer else _PARAMETER_EDGE,
        dashed=buffer,
        zorder=3,
        width_of_line=0.9,
    )


def _frame(
    axes: Any,
    x: float,
    y: float,
    width: float,
    height: float,
    face: str,
    edge: str,
    dashed: bool,
    zorder: int,
    width_of_line: float = 1.2,
) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (x + 0.03, y + 0.03),
            width - 0.06,
            height - 0.06,
            boxstyle="round,pad=0.03,rounding_size=0.05",
            facecolor=face,
            edgecolor=edge,
            linewidth=width_of_line,
            linestyle=(0, (3, 1.6)) if dashed else "solid",
            zorder=zorder,
        )
    )


def _legend_entries(boxes: list[Box]) -> list[tuple[str, str, float]]:
    """What the picture holds: the word for it, how it looks, and the width of its entry."""
    chips = {chip.buffer for box in boxes for row in box.rows for chip in row}
    entries = [("parameter (shape)", "parameter", False in chips), ("buffer (shape)", "buffer", True in chips)]
    entries.append(("module", "module", any(not box.container for box in boxes)))
    entries.append(("container", "container", any(box.container for box in boxes)))
    entries.append(("seen before", "shared", any(box.shared for box in boxes)))
    return [
        (text, look, (len(text) + (2 if look in ("parameter", "buffer") else 4)) * _CHAR)
        for text, look, present in entries
        if present
    ]


def _legend(axes: Any, x: float, entries: list[tuple[str, str, float]]) -> None:
    """Say what is what."""
    y = _MARGIN + 0.05
    style: dict[str, Any] = {"fontsize": _POINTS - 0.8, "family": MONO, "color": INK, "va": "center", "zorder": 4}
    for text, look, wide in entries:
        if look in ("parameter", "buffer"):
            _chip_frame(axes, x, y, len(text) * _CHAR, look == "buffer")
            axes.text(x + (len(text) + 0.3) * _CHAR / 2, y, text, ha="center", **style)
        else:
            face = _CONTAINER if look == "container" else _BOX
            _frame(axes, x, y - 0.5 * _LINE, wide - 2 * _CHAR, _LINE, face, INK, look == "shared", 3)
            axes.text(x + wide / 2 - _CHAR, y, text, ha="center", **style)
        x += wide
