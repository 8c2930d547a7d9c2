"""Tensors as grids of cells: numbers where there is room for them, shades where there is not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import torch
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle
from torch.nn.functional import adaptive_avg_pool2d, adaptive_max_pool2d

from course.pictures.canvas import MONO, QUIET, RED, WIRE, Box, Picture, in_own_style
from course.pictures.words import cut, number

__all__ = ["Grid", "cell_text", "draw_grids", "frame", "put_frames", "real", "span"]

_WIDE, _LEFT = 5.2, 0.85
WRONG = "#fbe3df"
"""The ground of what is not as wanted."""

_CELL, _MOST_COLUMNS, _MOST_ROWS = 0.25, 9, 6
# Cells of a shaded grid across and down; a larger one is drawn coarser.
_DOTS = 48


@dataclass(frozen=True)
class Grid:
    """A labelled tensor. ``bad`` marks the elements that are not as wanted; ``listed`` values were a list, no tensor."""

    label: str
    values: torch.Tensor
    bad: torch.Tensor = field(default_factory=lambda: torch.tensor(False))
    listed: bool = False
    difference: bool = False
    shaped: tuple[int, ...] | None = None  # what this is a slice of

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of a slice: an empty one takes room as well."""
        rows, columns = self.values.shape
        return max(1, rows), max(1, columns)

    def slice(self) -> tuple[str, Grid]:
        """Rows and columns: of more than two dimensions the first slice that holds something bad; where it stands."""
        values, place = self.values.detach(), ""
        bad = self.bad.expand(values.shape)
        if values.dim() > 2 and not values.numel():
            values, bad = values.flatten(), bad.flatten()
        elif values.dim() > 2:
            leading = tuple(bad.nonzero()[0][:-2].tolist()) if bad.any() else (0,) * (values.dim() - 2)
            place = f"[{', '.join(map(str, leading))}]"
            values, bad = values[leading], bad[leading]
        values, bad = torch.atleast_2d(values), torch.atleast_2d(bad)  # type: ignore[no-untyped-call]
        return place, replace(self, values=values, bad=bad, shaped=self.values.shape)

    @property
    def heading(self) -> str:
        """``yours (2, 3)``; a difference, and what was no tensor, has no shape to tell."""
        return (
            self.label if self.listed or self.difference else f"{self.label} {tuple(self.shaped or self.values.shape)}"
        )

    def in_words(self) -> str:
        """``yours (2,): 1, 2``; of many elements the range."""
        flat = self.values.detach().flatten()
        if len(flat) <= 16:
            return f"{self.heading}: {', '.join(map(cell_text, flat)) or 'empty'}"
        low, high = span(flat)
        odd = int(flat.isfinite().logical_not().sum())
        if odd == len(flat):
            return f"{self.heading}: NaN or inf everywhere"
        return f"{self.heading}: from {number(low)} to {number(high)}" + (f", {odd} of them NaN or inf" if odd else "")


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


def frame(box: Box, wrong: bool = False, dashed: bool = False) -> Rectangle:
    """The box around a number or a word."""
    style: dict[str, Any] = {"facecolor": WRONG if wrong else "white", "edgecolor": WIRE, "linewidth": 0.7}
    if wrong or dashed:
        style |= {"edgecolor": RED, "linewidth": 1.6 if wrong else 1.0}
    return Rectangle(box[:2], *box[2:], linestyle=(0, (3, 2)) if dashed else "solid", **style)


def put_frames(picture: Picture, frames: list[Rectangle]) -> None:
    """All at once, which is much faster than one by one."""
    picture.put(PatchCollection(frames, match_original=True, zorder=2))


@in_own_style
def draw_grids(grids: list[Grid], title: str, words: str) -> Picture:
    """The grids below each other where they are flat, else side by side; ``words`` below sum them up."""
    slices = [grid.slice() for grid in grids]
    views = [view for _, view in slices]
    flat, fits, boxes = _layout([view.shape for view in views])
    places = sorted({place for place, _ in slices} - {""})
    if places:
        words = f"drawn: slice {' and '.join(places)} · {words}"
    head, foot = (0.32 if title else 0.1), 0.32
    alt = ". ".join(part for part in (title, *(grid.in_words() for grid in grids), words) if part)
    picture = Picture(_WIDE, head + max(y + high for _, y, _, high in boxes) + foot, alt)
    tall = picture.captioned(cut(title, 60), words)
    ends = _ends([view.values for view in views if not view.difference])
    for view, (x, y, wide, high) in zip(views, boxes, strict=True):
        _draw_view(picture, view, (x, tall - head - y - high, wide, high), (flat, fits), ends)
    return picture


def _layout(shapes: list[tuple[int, int]]) -> tuple[bool, bool, list[Box]]:
    """Whether the grids are below each other, whether numbers fit, and where the cells stand."""
    rows, columns = (max(sizes) for sizes in zip(*shapes, strict=True))
    if rows <= 2 and (columns > 3 or rows == 1):
        return True, columns <= _MOST_COLUMNS // rows, _flat(shapes)
    fits = columns <= 4 and rows <= _MOST_ROWS and rows * columns <= 16
    return False, fits, _side_by_side(shapes, fits)


def _draw_view(picture: Picture, view: Grid, box: Box, how: tuple[bool, bool], ends: tuple[float, float]) -> None:
    """A grid of two dimensions with its heading. ``how``: whether below each other, and whether numbers fit."""
    flat, fits = how
    x, y, _, high = box
    if flat:
        picture.write(_LEFT - 0.1, y + high / 2, view.label, ha="right", fontsize=8.5)
    else:
        picture.write(x, y + high + 0.12, cut(view.heading, 28), fontsize=8.5)
    if not view.values.numel():
        picture.write(x, y + high - 0.14, "empty", fontsize=8.5, color=QUIET, style="italic")
    elif fits:
        _numbers(picture, view, box)
    else:
        _shades(picture, view, box, ends)


def _flat(shapes: list[tuple[int, int]]) -> list[Box]:
    """One below the other: the same element at the same distance from the left. ``y`` is from the top."""
    cell = min(0.66, (_WIDE - _LEFT - 0.12) / max(columns for _, columns in shapes))
    boxes, y = [], 0.0
    for rows, columns in shapes:
        boxes.append((_LEFT, y, cell * columns, _CELL * rows))
        y += _CELL * rows + 0.1
    return boxes


def _side_by_side(shapes: list[tuple[int, int]], fits: bool) -> list[Box]:
    panel = (_WIDE - 0.1) / len(shapes)
    boxes = []
    for place, (rows, columns) in enumerate(shapes):
        across, down = min(0.52, (panel - 0.15) / columns), _CELL
        if not fits:
            across = down = min((panel - 0.15) / columns, 1.25 / rows)
        boxes.append((0.1 + panel * place, 0.26, max(columns * across, 0.08), max(rows * down, 0.08)))
    return boxes


def _numbers(picture: Picture, grid: Grid, box: Box) -> None:
    """Every element in a cell of its own; what is not as wanted has a thick red frame and bold digits."""
    rows, columns = grid.values.shape
    wide = box[2] / columns
    wrong = [grid.label != "wanted" and bool(bad) for bad in grid.bad.flatten()]
    frames = []
    for place, element in enumerate(grid.values.flatten()):
        x, y = box[0] + wide * (place % columns), box[1] + _CELL * (rows - 1 - place // columns)
        frames.append(frame((x + 0.012, y + 0.012, wide - 0.024, _CELL - 0.024), wrong[place]))
        text = cell_text(element)
        if grid.difference and not wrong[place]:
            continue
        if grid.difference:
            text = "≠" if text == "NaN" else f"+{text}".replace("+-", "-")
        # Clear of the frame, whose line is thick where something is wrong.
        size = min(8.5, 0.85 * wide * 72 / (0.602 * len(text)))
        style = {"ha": "center", "family": MONO, "weight": "bold" if wrong[place] else "normal"}
        picture.write(x + wide / 2, y + _CELL / 2 - 0.005, text, fontsize=size, **style)
    put_frames(picture, frames)


def _shades(picture: Picture, grid: Grid, box: Box, ends: tuple[float, float]) -> None:
    """One shade an element; NaN and infinity are crossed out. Of a difference, dark is where it is large."""
    plain, colours = real(grid.values), "YlGnBu"
    pool: Any = adaptive_avg_pool2d
    if grid.difference:
        # Whatever differs shows, however little.
        plain = plain.abs()
        plain = torch.where(grid.bad, (plain / (span(plain)[1] or 1.0)).mul(0.75).add(0.25), 0.0)
        ends, colours, pool = (0.0, 1.0), "Reds", adaptive_max_pool2d
    if max(plain.shape) > _DOTS:
        plain = pool(plain[None], [min(_DOTS, size) for size in plain.shape])[0]
    shown = plain.nan_to_num(torch.nan, torch.nan, torch.nan).numpy()
    picture.shade(shown, box, limits=ends, crossed=RED, cmap=colours)


def _ends(values: list[torch.Tensor]) -> tuple[float, float]:
    """One scale for yours and wanted."""
    lows, highs = zip((0.0, 0.0), *(span(one) for one in values if one.numel()), strict=True)
    low, high = min(lows[1:], default=0.0), max(highs[1:], default=1.0)
    return low, high if high > low else low + 1.0


def real(values: torch.Tensor) -> torch.Tensor:
    """As numbers that can be drawn: float32, of complex ones the size."""
    values = values.detach().cpu()
    return (values.abs() if values.is_complex() else values).float()


def span(values: torch.Tensor) -> tuple[float, float]:
    """The least and the largest of the finite values; 0 and 0 if there are none."""
    plain = real(values)
    finite = plain[plain.isfinite()]
    low, high = finite.aminmax() if len(finite) else (0.0, 0.0)
    return float(low), float(high)
