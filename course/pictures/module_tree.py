"""A model as a tree: what is registered in it, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.parameter import is_lazy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_module_tree"]

MAX_BOXES = 26
"""Deeper levels are left out, and counted in words, where the tree would have more boxes than this."""

_MAX_SIBLINGS = 12
_MAX_CHIPS = 6
_WRAP = 30  # characters of parameters and buffers side by side, before a new line begins

# The axes are measured in inches, so that text of a fixed-width font has a known size.
_POINTS = 9.0
_CHAR = 0.64 * _POINTS / 72  # 0.602 by the font's own table; screens round it up
_LINE = 0.215
_PAD = 0.1
_GAP_X, _GAP_Y = 0.45, 0.13
_MARGIN = 0.22

_PAPER, _INK, _WIRE = "#fbfaf6", "#1d2733", "#6b7683"
_BOX, _CONTAINER = "#ffffff", "#eceff2"
_PARAMETER, _PARAMETER_EDGE = "#ffd9a0", "#a85b00"
_BUFFER, _BUFFER_EDGE = "#d5e6fb", "#1f5fa8"
_BADGE = "#8e1f4f"
_FONT = "DejaVu Sans Mono"


@dataclass(frozen=True)
class _Chip:
    """One parameter or buffer, in words."""

    text: str
    buffer: bool


@dataclass
class _Box:
    """One module as it is drawn: texts, children, and after the layout its place in inches."""

    name: str
    attribute: str
    kind: str
    container: bool
    rows: list[list[_Chip]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shared: bool = False
    children: list[_Box] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    @property
    def head(self) -> str:
        return f"{self.attribute}: {self.kind}" if self.attribute else self.kind

    @property
    def width(self) -> float:
        rows = [sum(len(chip.text) + 2 for chip in row) for row in self.rows]
        longest = max([len(self.head), *rows, *map(len, self.notes)])
        return longest * _CHAR + 2 * _PAD

    @property
    def height(self) -> float:
        return (1 + len(self.rows) + len(self.notes)) * _LINE + 1.3 * _PAD

    @property
    def span(self) -> float:
        """The height of the box with everything that stands to its right."""
        below = sum(child.span for child in self.children) + _GAP_Y * max(0, len(self.children) - 1)
        return max(self.height, below)


def draw_module_tree(module: nn.Module, numbers: Mapping[str, int] | None = None, title: str | None = None) -> Figure:
    """Draw any module as a tree that grows to the right, one box a module, as a matplotlib figure.

    A box shows the attribute name and the class, below them the module's own parameters (orange)
    and buffers (blue, dashed) with their shapes. A module that is found a second time is marked and
    not opened again; a parameter that is found a second time names its first place. ``numbers`` maps
    dotted names, ``''`` for the root, to a number that is drawn as a badge. Levels that would make more
    than MAX_BOXES boxes are left out; the box above says how much it holds.
    """
    import matplotlib.pyplot as plt

    depth = _depth_that_fits(module)
    root = _box(module, "", "", depth, {}, {})
    columns = _columns(root)
    edges = _MARGIN + (0.12 if numbers else 0)
    starts, x = [], edges
    for column in columns:
        starts.append(x)
        x += max(box.width for box in column) + _GAP_X
    heading, legend = (0.4 if title else 0.0), 0.42
    width = max(x - _GAP_X + _MARGIN, 6.4, len(title or "") * _CHAR * 1.3 + 2 * _MARGIN)
    height = root.span + heading + legend + 2 * _MARGIN
    _place(root, starts, 0, height - _MARGIN - heading)

    figure: Figure = plt.figure(figsize=(width, height), facecolor=_PAPER)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    if title:
        axes.text(edges, height - _MARGIN, title, fontsize=11.5, fontweight="bold", color=_INK, va="top")
    for column in columns:
        for box in column:
            _paint(axes, box, None if numbers is None else numbers.get(box.name))
    _legend(axes, edges, [box for column in columns for box in column])
    # A closed figure is shown once, as the value of the cell, and not a second time by the front end.
    plt.close(figure)
    return figure


def _depth_that_fits(module: nn.Module) -> int:
    """The deepest level, at least 1, down to which the tree has no more than MAX_BOXES boxes."""
    total, level, depth = 1, [module], 0
    while level:
        level = [child for one in level for child in one.children()]
        total += len(level)
        if depth >= 1 and total > MAX_BOXES:
            break
        depth += 1
    return depth


def _box(
    module: nn.Module, name: str, attribute: str, depth: int, modules: dict[int, str], tensors: dict[int, str]
) -> _Box:
    container = isinstance(module, (nn.Sequential, nn.ModuleList, nn.ModuleDict))
    box = _Box(name, attribute, type(module).__name__, container)
    if id(module) in modules:
        box.shared = True
        box.notes.append(f"same object as {modules[id(module)] or 'the root'}")
        return box
    modules[id(module)] = name
    box.rows = _rows(_chips(module, name, tensors))
    children = [(key, child) for key, child in module._modules.items() if child is not None]
    if children and depth == 0:
        inside = sum(1 for _ in module.modules()) - 1
        own = {id(parameter) for parameter in module.parameters(recurse=False)}
        deeper = sum(1 for parameter in module.parameters() if id(parameter) not in own)
        box.notes.append(f"+ {_count(inside, 'module')}, {_count(deeper, 'parameter')} inside")
        return box
    shown = children if len(children) <= _MAX_SIBLINGS else children[: _MAX_SIBLINGS - 1]
    for key, child in shown:
        box.children.append(_box(child, f"{name}.{key}" if name else key, key, depth - 1, modules, tensors))
    if len(shown) < len(children):
        box.notes.append(f"+ {_count(len(children) - len(shown), 'more child', 'more children')}")
    return box


def _chips(module: nn.Module, name: str, tensors: dict[int, str]) -> list[_Chip]:
    chips = []
    for registered, buffer in ((module._parameters, False), (module._buffers, True)):
        for key, value in registered.items():
            if value is None:
                continue
            text = f"{key} {_shape(value)}"
            if id(value) in tensors:
                text = f"{key} = {tensors[id(value)]}"
            if not buffer and not value.requires_grad:
                text += " frozen"
            if key in module._non_persistent_buffers_set:
                text += " not saved"
            tensors.setdefault(id(value), f"{name}.{key}" if name else key)
            chips.append(_Chip(text, buffer))
    if len(chips) > _MAX_CHIPS:
        rest = chips[_MAX_CHIPS - 1 :]
        chips = [*chips[: _MAX_CHIPS - 1], _Chip(f"+ {len(rest)} more", all(chip.buffer for chip in rest))]
    return chips


def _shape(value: Any) -> str:
    return "(not yet known)" if is_lazy(value) else str(tuple(value.shape))


def _rows(chips: list[_Chip]) -> list[list[_Chip]]:
    """Chips side by side while they fit; parameters and buffers never share a row."""
    rows: list[list[_Chip]] = []
    for chip in chips:
        last = rows[-1] if rows else None
        if last and last[0].buffer == chip.buffer and sum(len(c.text) + 2 for c in last) + len(chip.text) <= _WRAP:
            last.append(chip)
        else:
            rows.append([chip])
    return rows


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _columns(root: _Box) -> list[list[_Box]]:
    columns = [[root]]
    while below := [child for box in columns[-1] for child in box.children]:
        columns.append(below)
    return columns


def _place(box: _Box, starts: list[float], column: int, top: float) -> None:
    """Give the box and everything to its right a place: ``x`` the left edge, ``y`` the middle."""
    box.x, box.y = starts[column], top - box.span / 2
    below = sum(child.span for child in box.children) + _GAP_Y * max(0, len(box.children) - 1)
    top -= (box.span - below) / 2
    for child in box.children:
        _place(child, starts, column + 1, top)
        top -= child.span + _GAP_Y


def _paint(axes: Axes, box: _Box, number: int | None) -> None:
    for child in box.children:
        left, right = box.x + box.width, child.x
        middle = child.x - _GAP_X * 0.55
        axes.plot([left, middle, middle, right], [box.y, box.y, child.y, child.y], color=_WIRE, lw=1.3, zorder=1)
    top = box.y + box.height / 2
    _frame(
        axes, box.x, box.y - box.height / 2, box.width, box.height,
        face=_CONTAINER if box.container else _BOX, edge=_INK, dashed=box.shared, zorder=2,
    )  # fmt: skip
    line = top - 0.65 * _PAD - _LINE / 2
    style: dict[str, Any] = {"fontsize": _POINTS, "family": _FONT, "color": _INK, "va": "center", "zorder": 4}
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
    if number is not None:
        axes.text(
            box.x, top, str(number), fontsize=_POINTS, fontweight="bold", color="white", ha="center", va="center",
            zorder=6, bbox={"boxstyle": "circle,pad=0.28", "facecolor": _BADGE, "edgecolor": _PAPER, "linewidth": 1.2},
        )  # fmt: skip


def _chip_frame(axes: Axes, x: float, middle: float, width: float, buffer: bool) -> None:
    _frame(
        axes, x, middle - 0.4 * _LINE, width + 0.3 * _CHAR, 0.8 * _LINE,
        face=_BUFFER if buffer else _PARAMETER, edge=_BUFFER_EDGE if buffer else _PARAMETER_EDGE,
        dashed=buffer, zorder=3, width_of_line=0.9,
    )  # fmt: skip


def _frame(
    axes: Axes, x: float, y: float, width: float, height: float, face: str, edge: str, dashed: bool, zorder: int,
    width_of_line: float = 1.2,
) -> None:  # fmt: skip
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            (x + 0.03, y + 0.03), width - 0.06, height - 0.06, boxstyle="round,pad=0.03,rounding_size=0.05",
            facecolor=face, edgecolor=edge, linewidth=width_of_line, linestyle=(0, (3, 1.6)) if dashed else "solid",
            zorder=zorder,
        )
    )  # fmt: skip


def _legend(axes: Axes, x: float, boxes: list[_Box]) -> None:
    """Say what is what, for the kinds that the picture holds."""
    y = _MARGIN + 0.05
    style: dict[str, Any] = {"fontsize": _POINTS - 0.8, "family": _FONT, "color": _INK, "va": "center", "zorder": 4}
    chips = {chip.buffer for box in boxes for row in box.rows for chip in row}
    for text, buffer in (("parameter (shape)", False), ("buffer (shape)", True)):
        if buffer in chips:
            _chip_frame(axes, x, y, len(text) * _CHAR, buffer)
            axes.text(x + (len(text) + 0.3) * _CHAR / 2, y, text, ha="center", **style)
            x += (len(text) + 2) * _CHAR
    modules = (
        ("module", _BOX, False, any(not box.container for box in boxes)),
        ("container", _CONTAINER, False, any(box.container for box in boxes)),
        ("seen before", _BOX, True, any(box.shared for box in boxes)),
    )
    for text, face, dashed, present in modules:
        if present:
            wide = (len(text) + 2) * _CHAR
            _frame(axes, x, y - 0.5 * _LINE, wide, _LINE, face, _INK, dashed, 3)
            axes.text(x + wide / 2, y, text, ha="center", **style)
            x += wide + 2 * _CHAR
