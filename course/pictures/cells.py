"""Tensors as grids of cells: numbers where there is room for them, shades where there is not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch.nn.functional import adaptive_avg_pool2d, adaptive_max_pool2d

from course.pictures.canvas import MONO, QUIET, RED, WIRE, Picture, in_own_style
from course.pictures.words import cut, number

__all__ = ["Frame", "Grid", "cell_text", "draw_frames", "draw_grids", "span"]

_WIDE, _LEFT = 5.2, 0.85
WRONG = "#fbe3df"
"""The ground of what is not as wanted."""

_CELL, _MOST_COLUMNS, _MOST_ROWS = 0.25, 9, 6
_DOTS = 48
"""Cells of a shaded grid across and down; a larger one is drawn coarser."""


@dataclass(frozen=True)
class Grid:
    """A labelled tensor. ``bad`` marks the elements that are not as wanted; ``listed`` values were a list, no tensor."""

    label: str
    values: torch.Tensor
    bad: torch.Tensor | None = None
    listed: bool = False
    difference: bool = False

    def slice(self) -> tuple[str, torch.Tensor, torch.Tensor]:
        """Rows and columns: of more than two dimensions the first slice that holds something bad; where it stands."""
        values = self.values.detach()
        bad = torch.zeros(values.shape, dtype=torch.bool) if self.bad is None else self.bad
        place = ""
        if values.dim() > 2 and values.numel():
            found = bad.nonzero()
            leading = tuple((found[0] if len(found) else bad.new_zeros(bad.dim(), dtype=torch.int64))[:-2].tolist())
            place = f"[{', '.join(map(str, leading))}]"
            values, bad = values[leading], bad[leading]
        if values.dim() > 2:
            values, bad = values.reshape(1, 0), bad.reshape(1, 0)
        return place, _two_dimensional(values), _two_dimensional(bad)

    @property
    def heading(self) -> str:
        """``yours (2, 3)``; a difference, and what was no tensor, has no shape to tell."""
        shape = "" if self.listed or self.difference else f" {tuple(self.values.shape)}"
        return f"{self.label}{shape}"

    def in_words(self) -> str:
        """``yours (2,): 1, 2``; of many elements the range."""
        flat = self.values.detach().flatten()
        if not len(flat):
            return f"{self.heading}: empty"
        if len(flat) <= 16:
            return f"{self.heading}: {', '.join(map(cell_text, flat))}"
        low, high = span(flat)
        odd = 0 if flat.isfinite().all() else int(flat.isfinite().logical_not().sum())
        if odd == len(flat):
            return f"{self.heading}: NaN or inf everywhere"
        return f"{self.heading}: from {number(low)} to {number(high)}" + (f", {odd} of them NaN or inf" if odd else "")


def _two_dimensional(values: torch.Tensor) -> torch.Tensor:
    return values.reshape(1, -1) if values.dim() < 2 else values


def cell_text(element: torch.Tensor) -> str:
    """An element in at most seven letters."""
    value = element.item()
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, complex):
        return f"{value.real:.2g}{value.imag:+.2g}j"
    for text in (str(value) if isinstance(value, int) else number(value), f"{value:.2g}", f"{value:.0e}"):
        if len(text) <= 7:
            return text.replace("e-0", "e-").replace("e+0", "e")
    return number(float(value))


@dataclass(frozen=True)
class Frame:
    """The box around a number or a word, in inches."""

    x: float
    y: float
    wide: float
    high: float
    wrong: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class _Place:
    """Where a grid's cells stand: inches from the left, from the line below the title, across and down."""

    x: float
    y: float
    wide: float
    high: float


@dataclass(frozen=True)
class _View:
    """What is drawn of a grid: two dimensions of it, and which elements are not as wanted."""

    grid: Grid
    place: str
    values: torch.Tensor
    bad: torch.Tensor

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns that it takes: an empty one takes room as well."""
        rows, columns = self.values.shape
        return max(1, rows), max(1, columns)


@in_own_style
def draw_grids(grids: list[Grid], title: str, words: str) -> Picture:
    """The grids below each other where they are flat, else side by side; ``words`` below sum them up."""
    views = [_View(grid, *grid.slice()) for grid in grids]
    rows = max(view.values.shape[0] for view in views)
    columns = max(view.values.shape[1] for view in views)
    flat = rows <= 2 and (columns > 3 or rows == 1)
    fits = _fits(rows, columns, flat)
    shapes = [view.shape for view in views]
    places = _flat(shapes) if flat else _side_by_side(shapes, fits)
    slices = sorted({view.place for view in views} - {""})
    if slices:
        more = f" · {words}" if words else ""
        words = f"drawn: slice {' and '.join(slices)}{more}"
    head, foot = (0.32 if title else 0.1), (0.32 if words else 0.1)
    alt = ". ".join(part for part in (title, *(grid.in_words() for grid in grids), words) if part)
    picture = Picture(_WIDE, head + max(box.y + box.high for box in places) + foot, alt)
    tall = picture.captioned(cut(title, 60), words)
    ends = _ends([view.values for view in views if not view.grid.difference])
    for view, place in zip(views, places, strict=True):
        _draw_view(picture, view, place, tall - head - place.y, (flat, fits), ends)
    return picture


def _draw_view(
    picture: Picture, view: _View, place: _Place, top: float, how: tuple[bool, bool], ends: tuple[float, float]
) -> None:
    """One grid with its heading. ``how``: whether the grids are below each other, and whether numbers fit."""
    flat, fits = how
    if flat:
        picture.write(_LEFT - 0.1, top - place.high / 2, view.grid.label, ha="right", fontsize=8.5)
    else:
        picture.write(place.x, top + 0.12, cut(view.grid.heading, 28), fontsize=8.5)
    if not view.values.numel():
        picture.write(place.x, top - 0.14, "empty", fontsize=8.5, color=QUIET, style="italic")
    elif fits:
        _numbers(picture, view, place, top)
    else:
        _shades(picture, view, (place.x, top - place.high, place.wide, place.high), ends)


def _fits(rows: int, columns: int, flat: bool) -> bool:
    """Whether each element has room for its number."""
    if flat:
        return columns <= _MOST_COLUMNS // rows
    return columns <= 4 and rows <= _MOST_ROWS and rows * columns <= 16


def _flat(shapes: list[tuple[int, int]]) -> list[_Place]:
    """One below the other: the same element at the same distance from the left."""
    room = _WIDE - _LEFT - 0.12
    cell = min(0.66, room / max(columns for _, columns in shapes))
    places, y = [], 0.0
    for rows, columns in shapes:
        places.append(_Place(_LEFT, y, cell * columns, _CELL * rows))
        y += _CELL * rows + 0.1
    return places


def _side_by_side(shapes: list[tuple[int, int]], fits: bool) -> list[_Place]:
    panel = (_WIDE - 0.1) / len(shapes)
    places = []
    for number_of, (rows, columns) in enumerate(shapes):
        if fits:
            wide, high = min(0.52, (panel - 0.15) / columns) * columns, _CELL * rows
        else:
            scale = min((panel - 0.15) / columns, 1.25 / rows)
            wide, high = max(columns * scale, 0.08), max(rows * scale, 0.08)
        places.append(_Place(0.1 + panel * number_of, 0.26, wide, high))
    return places


def _numbers(picture: Picture, view: _View, place: _Place, top: float) -> None:
    """Every element in a cell of its own; what is not as wanted has a thick red frame and bold digits."""
    grid, values, bad = view.grid, view.values, view.bad
    rows, columns = values.shape
    frames = []
    wide, marked = place.wide / columns, grid.label != "wanted"
    for row in range(rows):
        for column in range(columns):
            wrong = marked and bool(bad[row, column])
            x, y = place.x + wide * column, top - _CELL * (row + 1)
            frames.append(Frame(x + 0.012, y + 0.012, wide - 0.024, _CELL - 0.024, wrong))
            text = cell_text(values[row, column])
            if grid.difference:
                if not wrong:
                    continue
                text = "≠" if text == "NaN" else text if text.startswith("-") else f"+{text}"
            # Clear of the frame, whose line is thick where something is wrong.
            size = min(8.5, 0.85 * wide * 72 / (0.602 * max(len(text), 1)))
            picture.write(
                x + wide / 2,
                y + _CELL / 2 - 0.005,
                text,
                ha="center",
                fontsize=size,
                family=MONO,
                weight="bold" if wrong else "normal",
            )
    draw_frames(picture, frames)


def draw_frames(picture: Picture, frames: list[Frame]) -> None:
    """Boxes, all at once, which is much faster than one by one."""
    from matplotlib.collections import PolyCollection

    corners = [
        [(one.x, one.y), (one.x + one.wide, one.y), (one.x + one.wide, one.y + one.high), (one.x, one.y + one.high)]
        for one in frames
    ]
    if not frames:
        return
    picture.put(
        PolyCollection(
            corners,
            facecolors=[WRONG if one.wrong else "white" for one in frames],
            edgecolors=[RED if one.wrong or one.dashed else WIRE for one in frames],
            linewidths=[1.6 if one.wrong else 1.0 if one.dashed else 0.7 for one in frames],
            linestyles=[(0, (3, 2)) if one.dashed else "solid" for one in frames],
            zorder=2,
        )
    )


def _shades(picture: Picture, view: _View, box: tuple[float, float, float, float], ends: tuple[float, float]) -> None:
    """One shade an element; NaN and infinity are crossed out. Of a difference, dark is where it is large."""
    grid, values, bad = view.grid, view.values, view.bad
    plain = (values.abs() if values.is_complex() else values).float()
    if grid.difference:
        # Whatever differs shows, however little.
        plain = plain.abs()
        most = span(plain)[1]
        plain = torch.where(bad, (plain / (most or 1.0)).mul(0.75).add(0.25), 0.0)
        ends = (0.0, 1.0)
    pool = adaptive_max_pool2d if grid.difference else adaptive_avg_pool2d
    if max(plain.shape) > _DOTS:
        plain = pool(plain[None, None], (min(_DOTS, plain.shape[0]), min(_DOTS, plain.shape[1])))[0, 0]
    picture.shade(
        plain.nan_to_num(torch.nan, torch.nan, torch.nan).numpy(),
        box,
        limits=ends,
        crossed=RED,
        cmap="Reds" if grid.difference else "YlGnBu",
    )


def _ends(values: list[torch.Tensor]) -> tuple[float, float]:
    """One scale for yours and wanted."""
    spans = [span(one) for one in values if one.numel()]
    low, high = min((one for one, _ in spans), default=0.0), max((one for _, one in spans), default=1.0)
    return low, high if high > low else low + 1.0


def span(values: torch.Tensor) -> tuple[float, float]:
    """The least and the largest of the finite values."""
    plain = (values.abs() if values.is_complex() else values).float()
    low, high = (float(one) for one in plain.aminmax())
    if not (math.isfinite(low) and math.isfinite(high)):
        finite = plain[plain.isfinite()]
        low, high = (float(one) for one in finite.aminmax()) if len(finite) else (0.0, 0.0)
    return low, high
