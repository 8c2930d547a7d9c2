"""A wrong answer beside what was wanted: numbers with their difference, words with a line from each to itself.

Works on plain data (:mod:`nbproof.values.evidence`): tensors, numbers, texts, and lists and dicts of them. Of nested data the
first place that differs is drawn, which is the place that the check's sentence names.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import torch
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from torch.nn.functional import adaptive_avg_pool2d, adaptive_max_pool2d

from course.pictures.canvas import MONO, ORANGE, QUIET, RED, WIRE, Box, Picture, in_own_style
from course.pictures.words import cut, listed, number, ranged, real, span
from nbproof.grouping import grouped
from nbproof.text import counted
from nbproof.values.compare import Place, is_same, is_single, place_of, plainly, tolerance_of, worth_drawing
from nbproof.values.describe import in_words
from nbproof.values.evidence import Evidence, TensorRecord, Unreadable, snapshot

__all__ = ["difference_html", "draw_difference", "draw_place"]

_MOST = 300_000
"""Elements of the largest tensor that is drawn."""
_WIDE, _LEFT, _CELL = 5.2, 0.85, 0.25
_DOTS = 48
"""Cells of a shaded grid across and down; a larger one is drawn coarser."""
_TITLE = {"fontsize": 9, "family": MONO}
_COLUMN, _ROW, _MOST_ROWS = 1.95, 0.235, 10
_COLUMNS = {"yours": 0.45, "wanted": _WIDE - _COLUMN - 0.1}
"""Where the two lists of an order begin."""


def draw_difference(got: object, wanted: object) -> Picture:
    """Draw an answer, what was wanted, and where they differ: about 500 by 160 pixels, larger for long lists.

    ``got`` and ``wanted`` are tensors, numbers, texts, or lists or dicts of them; ``wanted`` may use AnyOf and Close.
    Raises ValueError for what cannot be drawn, such as tensors of two shapes.
    """
    place = place_of(got, wanted)
    made = None if place is None else _drawn(place)
    if made is None:
        raise ValueError("there is nothing to be seen in a picture here")
    return made


def difference_html(got: object, wanted: object) -> str:
    """The same as an HTML image with an alt text, for a check's panel. Never raises.

    Empty for what is odd, equal, or told by one sentence as well: single numbers and words, another type, shape or dtype.
    """
    try:
        plain = snapshot(got)
        place = None if is_same(plain, wanted) else place_of(plain, wanted)
        picture = _drawn(place) if place is not None and worth_drawing(place) else None
        if picture is None:
            return ""
        # In few bytes, because graded notebooks drop a panel that is too long: much text is less sharp. With fewer
        # colours than these the shades of a large tensor leave none for the words.
        scale = 1.0 if len(picture.texts) > 30 else 1.5
        return picture.image(style="display:block;", colours=32, scale=scale)
    except Exception:  # a picture is a help; nothing that a learner hands in may cost them the panel
        return ""


def draw_place(place: Place) -> Picture | None:
    """A picture of a place that was noted earlier; None where there is nothing to be seen. Never raises."""
    try:
        return _drawn(place)
    except Exception:  # as above
        return None


def _drawn(place: Place) -> Picture | None:
    got, wanted = place.got, snapshot(plainly(place.wanted))
    yours, target = _as_tensor(got), _as_tensor(wanted)
    if yours is not None and target is not None and (yours.shape, yours.dtype) == (target.shape, target.dtype):
        return _draw_grids(place, yours, target)
    if isinstance(got, (TensorRecord, Unreadable)) or isinstance(wanted, (TensorRecord, Unreadable)):
        return None
    return _draw_orders(_as_words(got), _as_words(wanted), place.where)


def _as_words(side: Evidence) -> list[str]:
    if isinstance(side, str):
        return side.splitlines() if "\n" in side else [side]
    if isinstance(side, dict):
        return [f"{key}: {_word(value)}" for key, value in side.items()]
    return [_word(item) for item in side] if isinstance(side, list) else [_word(side)]


def _word(item: Evidence) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, TensorRecord):
        return f"tensor {item.shape}"
    if isinstance(item, list) and len(item) <= 4 and all(is_single(part) for part in item):
        return "  ".join(_word(part) for part in item)
    return in_words(item, 60)


def _as_tensor(side: Evidence) -> torch.Tensor | None:
    """A tensor, a number or a list of numbers as a tensor; None for the rest."""
    if isinstance(side, TensorRecord):
        found = torch.as_tensor(side.tensor())
        return None if found.is_complex() else found
    plain = side if isinstance(side, list) else [side]
    numbers = bool(plain) and all(type(item) in (int, float) for item in plain)
    return torch.tensor(side, dtype=torch.float64) if numbers else None


@in_own_style
def _draw_grids(place: Place, got: torch.Tensor, wanted: torch.Tensor) -> Picture | None:
    """Yours, wanted and their difference as grids: numbers where there is room for them, shades where there is not."""
    if not 0 < got.numel() <= _MOST:
        return None
    shape = "" if isinstance(place.got, list) else f" {tuple(got.shape)}"
    rtol, atol = place.tolerance or tolerance_of(str(wanted.dtype).removeprefix("torch."))
    if not wanted.is_floating_point():
        rtol = atol = 0.0
    got, wanted = got.double(), wanted.double()
    bad = torch.isclose(got, wanted, rtol, atol).logical_not()
    size = torch.where(got == wanted, 0.0, got - wanted)  # infinity less itself is no number
    words = _summed_up(got, wanted, bad, size)
    grids = {f"yours{shape}": got, f"wanted{shape}": wanted, "difference": size}
    # Of many dimensions the first slice that holds something bad.
    at = tuple(bad.nonzero()[0, :-2].tolist()) if bad.any() else (0,) * (got.dim() - 2)
    if at:
        words = f"drawn: slice {list(at)} · {words}"
    alt = ". ".join(part for part in (place.where, *map(_in_words, grids, grids.values()), words) if part)
    bad, *slices = (torch.atleast_2d(one[at]) for one in (bad, *grids.values()))  # type: ignore[no-untyped-call]
    flat, fits, boxes = _layout(*bad.shape)
    head = 0.32 if place.where else 0.1
    picture = Picture(_WIDE, head + boxes[-1][1] + boxes[-1][3] + 0.32, alt)
    top = picture.titled(cut(place.where, 60), words, **_TITLE) - head
    ends = span(torch.stack(slices[:2]))
    for label, values, (x, down, wide, high) in zip(grids, slices, boxes, strict=True):
        box = x, top - down - high, wide, high
        if flat:
            picture.write(_LEFT - 0.1, box[1] + high / 2, label.split(" (")[0], ha="right", fontsize=8.5)
        else:
            picture.write(x, box[1] + high + 0.12, cut(label, 28), fontsize=8.5)
        if fits:
            _write_numbers(picture, label, values, bad, box)
        else:
            _shade(picture, label, values, bad, box, ends)
    return picture


def _layout(rows: int, columns: int) -> tuple[bool, bool, list[Box]]:
    """Whether the grids are below each other, whether numbers fit, and where the grids stand, from the top."""
    if rows == 1 or (rows == 2 and columns > 3):
        wide, high = min(0.66 * columns, _WIDE - _LEFT - 0.12), _CELL * rows
        return True, columns <= 9 // rows, [(_LEFT, (high + 0.1) * place, wide, high) for place in range(3)]
    fits = columns <= 4 and rows <= 6 and rows * columns <= 16
    panel = (_WIDE - 0.1) / 3
    across, down = min(0.52, (panel - 0.15) / columns), _CELL
    if not fits:
        across = down = min((panel - 0.15) / columns, 1.25 / rows)
    size = max(columns * across, 0.08), max(rows * down, 0.08)
    return False, fits, [(0.1 + panel * place, 0.26, *size) for place in range(3)]


def _in_words(label: str, values: torch.Tensor) -> str:
    """``yours (2,): 1, 2``; of many elements the range."""
    flat = values.flatten()
    elements = ", ".join(map(_cell_text, flat)) if len(flat) <= 16 else ranged(flat)
    return f"{label}: {elements}"


def _cell_text(element: torch.Tensor) -> str:
    """An element in at most seven letters."""
    value = float(element)
    if value.is_integer() and abs(value) < 1e6:
        return f"{value:.0f}"
    return next(text for digits in (3, 2, 1) if len(text := number(value, digits)) <= 7)


def _write_numbers(picture: Picture, label: str, values: torch.Tensor, bad: torch.Tensor, box: Box) -> None:
    """Every element in a cell of its own; what is not as wanted has a thick red frame and bold digits."""
    wide = box[2] / values.shape[1]
    for (row, column), element in zip(torch.ones(values.shape).nonzero().tolist(), values.flatten(), strict=True):
        wrong = bool(bad[row, column]) and not label.startswith("wanted")
        x, y = box[0] + wide * column, box[1] + box[3] - _CELL * (row + 1)
        _frame(picture, (x + 0.012, y + 0.012, wide - 0.024, _CELL - 0.024), wrong)
        text = _cell_text(element)
        if label == "difference":
            text = f"+{text}".replace("+-", "-").replace("+NaN", "≠") if wrong else ""
        # Clear of the frame: its line is thick where something is wrong.
        size = min(8.5, 0.85 * wide * 72 / (0.602 * len(text or " ")))
        weight = "bold" if wrong else "normal"
        style = {"ha": "center", "family": MONO, "weight": weight}
        picture.write(x + wide / 2, y + _CELL / 2 - 0.005, text, fontsize=size, **style)


def _shade(
    picture: Picture, label: str, values: torch.Tensor, bad: torch.Tensor, box: Box, ends: tuple[float, float]
) -> None:
    """One shade an element; NaN and infinity are crossed out. Of a difference, dark is where it is large."""
    plain, colours = real(values), "YlGnBu"
    pool: Any = adaptive_avg_pool2d
    if label == "difference":
        # Each difference shows, also a small one.
        plain = plain.abs()
        plain = torch.where(bad, (plain / (span(plain)[1] or 1.0)).mul(0.75).add(0.25), 0.0)
        ends, colours, pool = (0.0, 1.0), "Reds", adaptive_max_pool2d
    if max(plain.shape) > _DOTS:
        plain = pool(plain[None], [min(_DOTS, size) for size in plain.shape])[0]
    shown = plain.nan_to_num(torch.nan, torch.nan, torch.nan).numpy()
    picture.shade(shown, box, limits=ends, crossed=RED, cmap=colours)


def _summed_up(got: torch.Tensor, wanted: torch.Tensor, bad: torch.Tensor, size: torch.Tensor) -> str:
    """``2 of 600 differ, most at [5, 6]: -2 for 0``."""
    wrong = int(bad.sum())
    words = f"{wrong} of {bad.numel()} differ" if wrong else "no difference"
    if not wrong or bad.numel() <= 8:
        return words
    worst = torch.where(bad, size.abs().nan_to_num(torch.inf), -1.0).argmax()
    at = [int(one) for one in torch.unravel_index(worst, bad.shape)]
    return f"{words}, most at {at}: {_cell_text(got.flatten()[worst])} for {_cell_text(wanted.flatten()[worst])}"


@in_own_style
def _draw_orders(got: list[str], wanted: list[str], title: str) -> Picture:
    """``got`` on the left, ``wanted`` on the right. Lines that cross are things in another order.

    The first difference is marked; from what has no partner no line goes. Of long lists a part around the first difference
    is drawn.
    """
    pairs = enumerate(zip_longest(got, wanted))
    first = next((at for at, (one, other) in pairs if one != other), len(got))
    longest = max(len(got), len(wanted))
    start = max(0, min(first - 2, longest - _MOST_ROWS))
    shown = range(start, min(longest, start + _MOST_ROWS))
    words = _sentence(got, wanted, first)
    parts = (title, f"yours: {_items_in_words(got)}", f"wanted: {_items_in_words(wanted)}", words)
    alt = ". ".join(part for part in parts if part)
    head = 0.55 if title else 0.32
    picture = Picture(_WIDE, head + _ROW * len(shown) + 0.34, alt)
    top = picture.titled(cut(title, 60), words, **_TITLE) - head
    middles = {at: top - _ROW * (at - start + 0.5) for at in shown}
    for at, y in middles.items():
        picture.write(0.38, y, str(at), ha="right", fontsize=7.5, family=MONO, color=QUIET)
    partners = _partners(got, wanted)
    _draw_column(picture, "yours", got, middles, first)
    _draw_column(picture, "wanted", wanted, middles, -1)
    for left, right in partners.items():
        if left in middles and right in middles:
            # Dotted where it stayed in its place.
            look: dict[str, Any] = {"color": WIRE, "linewidth": 1.0, "linestyle": (0, (1, 1.5))}
            if left != right:
                look = {"color": ORANGE, "linewidth": 1.8, "linestyle": "solid"}
            ends = [_COLUMNS["yours"] + _COLUMN, _COLUMNS["wanted"]], [middles[left], middles[right]]
            picture.put(Line2D(*ends, zorder=1, **look))
    return picture


def _items_in_words(items: list[str]) -> str:
    return listed((cut(one, 40) for one in items), 24) or "empty"


def _draw_column(picture: Picture, label: str, items: list[str], middles: dict[int, float], marked: int) -> None:
    """A heading, and a framed row for each item that has a place."""
    x = _COLUMNS[label]
    top = max(middles.values()) + _ROW / 2 + 0.12
    heading = label if items else f"{label}: empty"
    picture.write(x + 0.03, top, heading, fontsize=8.5)
    for at, y in middles.items():
        if at < len(items):
            box = (x + 0.02, y - _ROW / 2 + 0.018, _COLUMN - 0.04, _ROW - 0.036)
            _frame(picture, box, at == marked)
            weight = "bold" if at == marked else "normal"
            picture.write(x + 0.08, y - 0.005, cut(items[at], 26), fontsize=7.5, family=MONO, weight=weight)


def _partners(got: list[str], wanted: list[str]) -> dict[int, int]:
    """The k-th time that a word stands on the left belongs to the k-th time on the right."""
    places = grouped((word, at) for at, word in enumerate(wanted))
    return {at: places[word].pop(0) for at, word in enumerate(got) if places.get(word)}


def _sentence(got: list[str], wanted: list[str], first: int) -> str:
    if first == len(got) == len(wanted):
        return "no difference"
    if first == len(got):
        what = f"yours ends there, {counted(len(wanted) - first, 'item')} missing"
    elif first == len(wanted):
        what = f"{counted(len(got) - first, 'item')} too many"
    else:
        what = f"{cut(got[first], 20)} for {cut(wanted[first], 20)}"
    return f"the first difference is at {first}: {what}"


def _frame(picture: Picture, box: Box, wrong: bool) -> None:
    """The box around a number or a word."""
    style: dict[str, Any] = {"facecolor": "white", "edgecolor": WIRE, "linewidth": 0.7}
    if wrong:
        style |= {"facecolor": "#fbe3df", "edgecolor": RED, "linewidth": 1.6}
    picture.put(Rectangle(box[:2], *box[2:], zorder=2, **style))
