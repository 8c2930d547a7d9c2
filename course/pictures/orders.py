"""Two orders of the same things, side by side, with a line from each thing to itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.lines import Line2D

from course.pictures.canvas import MONO, ORANGE, QUIET, WIRE, Picture, in_own_style
from course.pictures.cells import frame, put_frames
from course.pictures.words import cut, listed
from nbproof.text import counted

__all__ = ["draw_orders"]

_WIDE, _ROW, _MOST, _LETTERS = 5.2, 0.235, 10, 26
_COLUMN, _LEFT = 1.95, 0.45
_RIGHT = _WIDE - _COLUMN - 0.1


@in_own_style
def draw_orders(got: list[str], wanted: list[str], title: str) -> Picture:
    """``got`` on the left, ``wanted`` on the right. Lines that cross are things in another order.

    The first difference is marked; what has no partner stands in a dashed frame. Of long lists a part around the first
    difference is drawn.
    """
    first, longest = _same(got, wanted), max(len(got), len(wanted), 1)
    differs = first < max(len(got), len(wanted))
    start = max(0, min(first - 2, longest - _MOST)) if differs else 0
    shown = range(start, min(longest, start + _MOST))
    words = _sentence(got, wanted, first)
    head = 0.55 if title else 0.32
    picture = Picture(_WIDE, head + _ROW * len(shown) + 0.34, _alt(got, wanted, title, words))
    tall = picture.captioned(cut(title, 60), words)
    middles = {at: tall - head - _ROW * (at - start + 0.5) for at in shown}
    for at, y in middles.items():
        picture.write(0.38, y, str(at), ha="right", fontsize=7.5, family=MONO, color=QUIET)
    pairs = _partners(got, wanted)
    _write_column(picture, _Column("yours", got, wanted, _LEFT, first if differs else -1, {*pairs}), middles)
    _write_column(picture, _Column("wanted", wanted, got, _RIGHT, -1, {*pairs.values()}), middles)
    for left, right in pairs.items():
        if left in middles and right in middles:
            # Dotted where it stayed in its place.
            look: dict[str, Any] = {"color": WIRE, "linewidth": 1.0, "linestyle": (0, (1, 1.5))}
            if left != right:
                look = {"color": ORANGE, "linewidth": 1.8, "linestyle": "solid"}
            picture.put(Line2D([_LEFT + _COLUMN, _RIGHT], [middles[left], middles[right]], zorder=1, **look))
    return picture


@dataclass(frozen=True)
class _Column:
    """One of the two lists: the row that is marked, and those that have a partner in the other one."""

    label: str
    items: list[str]
    others: list[str]
    x: float
    wrong: int
    matched: set[int]


def _write_column(picture: Picture, column: _Column, middles: dict[int, float]) -> None:
    """A heading and a framed row each."""
    start, stop = min(middles), min(max(middles) + 1, len(column.items))
    top = max(middles.values()) + _ROW / 2
    part = "" if (start, stop) == (0, len(column.items)) else f", {start} to {stop - 1} of {len(column.items)}"
    picture.write(column.x + 0.03, top + 0.12, column.label + part, fontsize=8.5)
    frames = []
    for at in range(start, stop):
        wrong, y = at == column.wrong, middles[at]
        box = (column.x + 0.02, y - _ROW / 2 + 0.018, _COLUMN - 0.04, _ROW - 0.036)
        frames.append(frame(box, wrong, dashed=at not in column.matched))
        text = _window(column.items[at], column.others[at] if at < len(column.others) else column.items[at])
        weight = "bold" if wrong else "normal"
        picture.write(column.x + 0.08, y - 0.005, text, fontsize=7.5, family=MONO, weight=weight)
    if not column.items:
        picture.write(column.x + 0.05, top - _ROW / 2, "empty", fontsize=8.5, style="italic", color=QUIET)
    put_frames(picture, frames)


def _window(text: str, other: str, most: int = _LETTERS) -> str:
    """A text of at most ``most`` letters; of two long ones in one row the part where they begin to differ."""
    if len(text) <= most or text == other:
        return cut(text, most)
    start = max(0, min(_same(text, other) - most // 3, len(text) - most + 1))
    room = most - (1 if start else 0)
    part = text[start:] if len(text) - start <= room else f"{text[start : start + room - 1]}…"
    return f"…{part}" if start else part


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items, or letters, are the same at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _partners(got: list[str], wanted: list[str]) -> dict[int, int]:
    """The k-th time that a word stands on the left belongs to the k-th time on the right."""
    places: dict[str, list[int]] = {}
    for at, word in enumerate(wanted):
        places.setdefault(word, []).append(at)
    return {at: places[word].pop(0) for at, word in enumerate(got) if places.get(word)}


def _sentence(got: list[str], wanted: list[str], first: int) -> str:
    if first == len(got) == len(wanted):
        return "no difference"
    if first == len(got):
        what = f"yours ends there, {counted(len(wanted) - first, 'item')} missing"
    elif first == len(wanted):
        what = f"{counted(len(got) - first, 'item')} too many"
    else:
        what = f"{_window(got[first], wanted[first], 20)} for {_window(wanted[first], got[first], 20)}"
    return f"the first difference is at {first}: {what}"


def _alt(got: list[str], wanted: list[str], title: str, words: str) -> str:
    yours, other = (listed((cut(one, 40) for one in items), 24) or "empty" for items in (got, wanted))
    return ". ".join(part for part in (title, f"yours: {yours}", f"wanted: {other}", words) if part)
