"""A wrong answer beside what was wanted: yours, wanted, difference.

Works on plain data (:mod:`nbproof.values.evidence`): tensors, numbers, texts, and lists and dicts of them. Of nested data the
first place that differs is drawn, which is the place that the check's sentence names.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from course.pictures.canvas import Picture
from course.pictures.cells import Grid, cell_text, draw_grids
from course.pictures.orders import draw_orders
from nbproof.values.compare import Place, is_same, is_single, place_of, plainly, tolerance_of, worth_drawing
from nbproof.values.describe import in_words
from nbproof.values.evidence import Evidence, TensorRecord, Unreadable, snapshot

__all__ = ["difference_html", "draw_difference", "draw_place"]

# Elements of the largest tensor that is drawn.
_MOST = 300_000


def draw_difference(got: object, wanted: object) -> Picture:
    """Draw an answer, what was wanted, and where they differ: about 500 by 160 pixels, larger for long lists.

    ``got`` and ``wanted`` are tensors, numbers, texts, or lists or dicts of them; ``wanted`` may use AnyOf and Close.
    Raises ValueError for what cannot be drawn.
    """
    place = place_of(got, wanted)
    made = None if place is None else _drawn(place)
    if made is None:
        raise ValueError("there is nothing to be seen in a picture here")
    return made


def difference_html(got: object, wanted: object) -> str:
    """The same as an HTML image with an alt text, for a check's panel. Never raises.

    Empty for what is odd, equal, or told by one sentence as well: single numbers and words, values of another type.
    """
    try:
        plain = snapshot(got)
        if is_same(plain, wanted):
            return ""
        place = place_of(plain, wanted)
        picture = _drawn(place) if place is not None and worth_drawing(place) else None
        if picture is None:
            return ""
        # In few bytes, because graded notebooks drop a panel that is too long: much text is less sharp. With fewer
        # colours than these the shades of a large tensor leave none for the words.
        return picture.image(style="display:block;", colours=32, scale=1.0 if len(picture.texts) > 30 else 1.5)
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
    if isinstance(wanted, Unreadable) or isinstance(got, Unreadable):
        return None
    yours, target = _as_tensor(got), _as_tensor(wanted)
    if yours is not None and target is not None:
        return _tensors(place, yours, target)
    if isinstance(got, TensorRecord) or (isinstance(wanted, TensorRecord) and not isinstance(got, list)):
        got, wanted = in_words(got, 40), in_words(wanted, 40)
    return draw_orders(_as_words(got), _as_words(wanted), place.where)


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
        return torch.as_tensor(side.tensor())
    plain = side if isinstance(side, list) else [side]
    numbers = bool(plain) and all(type(item) in (int, float) for item in plain)
    return torch.tensor(side, dtype=torch.float64) if numbers else None


def _tensors(place: Place, got: torch.Tensor, wanted: torch.Tensor) -> Picture | None:
    if max(got.numel(), wanted.numel()) > _MOST:
        return None
    title, listed = place.where, isinstance(place.got, list)
    grids = [Grid("yours", got, listed=listed), Grid("wanted", wanted, listed=listed)]
    if got.shape != wanted.shape:
        words = f"shape {tuple(got.shape)}, wanted {tuple(wanted.shape)}"
        return draw_grids(grids, title, f"{len(got)} items, wanted {len(wanted)}" if listed else words)
    kinds = [str(one.dtype).removeprefix("torch.") for one in (got, wanted)]
    if got.dtype != wanted.dtype:
        return draw_grids(grids, title, f"dtype {kinds[0]}, wanted {kinds[1]}")
    bad, size = _apart(got, wanted, place.tolerance or tolerance_of(kinds[1]))
    grids = [replace(grid, bad=bad) for grid in (*grids, Grid("difference", size, difference=True))]
    return draw_grids(grids, title, _summed_up(got, wanted, bad, size))


def _summed_up(got: torch.Tensor, wanted: torch.Tensor, bad: torch.Tensor, size: torch.Tensor) -> str:
    """``2 of 600 differ, most at [5, 6]: -2 for 0``."""
    wrong = int(bad.sum())
    words = f"{wrong} of {bad.numel()} differ" if wrong else "no difference"
    if not wrong or bad.numel() <= 8:
        return words
    worst = torch.where(bad, size.abs().nan_to_num(torch.inf), -1.0).argmax()
    at = [int(one) for one in torch.unravel_index(worst, bad.shape)]
    return f"{words}, most at {at}: {cell_text(got.flatten()[worst])} for {cell_text(wanted.flatten()[worst])}"


def _apart(
    got: torch.Tensor, wanted: torch.Tensor, tolerance: tuple[float, float]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Which elements differ by the rule of the comparison, and by how much (NaN where that is no number)."""
    bad = got != wanted
    if got.dtype == torch.bool:
        return bad, torch.where(bad, torch.nan, 0.0)
    if got.is_floating_point() or got.is_complex():
        bad = torch.isclose(got, wanted, rtol=tolerance[0], atol=tolerance[1]).logical_not()
        apart = got - wanted
    else:
        apart = got.double() - wanted.double()
    return bad, torch.where(got == wanted, 0.0, apart.abs() if apart.is_complex() else apart)
