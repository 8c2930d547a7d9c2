"""Two orders of the same things, side by side, with a line from each thing to itself."""

from __future__ import annotations

from dataclasses import dataclass

from course.pictures.canvas import MONO, ORANGE, QUIET, WIRE, Picture, in_own_style
from course.pictures.cells import Frame, draw_frames
from course.pictures.words import amount, cut, listed

__all__ = ["draw_orders"]

_WIDE, _ROW, _MOST, _LETTERS = 5.2, 0.235, 10, 26
_COLUMN, _LEFT = 1.95, 0.45
_RIGHT = _WIDE - _COLUMN - 0.1


@in_own_style
def draw_orders(got: list[str], wanted: list[str] | None, title: str = "") -> Picture:
    """``got`` on the left, ``wanted`` on the right. Lines that cross are things in another order.

    The first difference is marked; what has no partner stands in a dashed frame. Of long lists a part around the first
    difference is drawn. With ``wanted`` None only the left column is drawn.
    """
    first = None if wanted is None else _first(got, wanted)
    start, stop = _shown(max(len(got), len(wanted or []), 1), first)
    head = 0.55 if title else 0.32
    words = _sentence(got, wanted, first)
    foot = 0.34 if words else 0.1
    picture = Picture(_WIDE, head + _ROW * (stop - start) + foot, _alt(got, wanted, title, words))
    tall = picture.captioned(cut(title, 60), words)
    middles = {at: tall - head - _ROW * (at - start + 0.5) for at in range(start, stop)}
    for at, y in middles.items():
        picture.write(0.38, y, str(at), ha="right", fontsize=7.5, family=MONO, color=QUIET)
    left = _Column("yours", got, _LEFT, first)
    if wanted is None:
        _write_column(picture, left, wanted, middles, set(range(len(got))))
        return picture
    right = _Column("wanted", wanted, _RIGHT, None)
    pairs = _partners(got, wanted)
    _write_column(picture, left, wanted, middles, {one for one, _ in pairs})
    _write_column(picture, right, got, middles, {other for _, other in pairs})
    for one, other in pairs:
        if one in middles and other in middles:
            _line(picture, (_LEFT + _COLUMN, middles[one]), (_RIGHT, middles[other]), moved=one != other)
    return picture


def _shown(length: int, first: int | None) -> tuple[int, int]:
    """The rows that are drawn: of long lists those around the first difference."""
    start = 0 if length <= _MOST or first is None else max(0, min(first - 2, length - _MOST))
    return start, min(length, start + _MOST)


@dataclass(frozen=True)
class _Column:
    """One of the two lists, and how far from the left it stands; ``wrong``: the row that is marked."""

    label: str
    items: list[str]
    x: float
    wrong: int | None


def _write_column(
    picture: Picture, column: _Column, others: list[str] | None, middles: dict[int, float], matched: set[int]
) -> None:
    """A heading and a framed row each; what is not in ``matched`` has no partner in the other column."""
    start, top = min(middles), max(middles.values()) + _ROW / 2
    heading = column.label + _part(column.items, start, max(middles) + 1)
    picture.write(column.x + 0.03, top + 0.12, heading, fontsize=8.5)
    frames = []
    for at, middle in middles.items():
        if at >= len(column.items):
            break
        wrong = at == column.wrong
        lonely = at not in matched
        frames.append(Frame(column.x + 0.02, middle - _ROW / 2 + 0.018, _COLUMN - 0.04, _ROW - 0.036, wrong, lonely))
        text = _window(column.items[at], others or [], at)
        weight = "bold" if wrong else "normal"
        picture.write(column.x + 0.08, middle - 0.005, text, fontsize=7.5, family=MONO, weight=weight)
    if not column.items:
        picture.write(column.x + 0.05, top - _ROW / 2, "empty", fontsize=8.5, style="italic", color=QUIET)
    draw_frames(picture, frames)


def _line(picture: Picture, start: tuple[float, float], end: tuple[float, float], moved: bool) -> None:
    """From a thing to itself: dotted where it stayed in its place."""
    from matplotlib.lines import Line2D

    line = Line2D(
        [start[0], end[0]],
        [start[1], end[1]],
        color=ORANGE if moved else WIRE,
        linewidth=1.8 if moved else 1.0,
        linestyle="solid" if moved else (0, (1, 1.5)),
        zorder=1,
    )
    picture.put(line)


def _window(text: str, others: list[str], at: int, most: int = _LETTERS) -> str:
    """A text of at most ``most`` letters; of two long ones in one row the part where they begin to differ."""
    if len(text) <= most or at >= len(others) or others[at] == text:
        return cut(text, most)
    other = others[at]
    same = next((k for k, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), len(other))
    start = max(0, min(same - most // 3, len(text) - most + 1))
    room = most - (1 if start else 0)
    part = text[start:] if len(text) - start <= room else f"{text[start : start + room - 1]}…"
    return f"…{part}" if start else part


def _first(got: list[str], wanted: list[str]) -> int | None:
    for at, (one, other) in enumerate(zip(got, wanted, strict=False)):
        if one != other:
            return at
    return None if len(got) == len(wanted) else min(len(got), len(wanted))


def _partners(got: list[str], wanted: list[str]) -> list[tuple[int, int]]:
    """The k-th time that a word stands on the left belongs to the k-th time on the right."""
    places: dict[str, list[int]] = {}
    for at, word in enumerate(wanted):
        places.setdefault(word, []).append(at)
    return [(at, places[word].pop(0)) for at, word in enumerate(got) if places.get(word)]


def _part(items: list[str], start: int, stop: int) -> str:
    if start == 0 and stop >= len(items):
        return ""
    return f", {start} to {min(stop, len(items)) - 1} of {len(items)}"


def _sentence(got: list[str], wanted: list[str] | None, first: int | None) -> str:
    if wanted is None:
        return ""
    if first is None:
        return "no difference"
    if first >= len(got):
        return f"the first difference is at {first}: yours ends there, {amount(len(wanted) - len(got), 'item')} missing"
    if first >= len(wanted):
        return f"the first difference is at {first}: {amount(len(got) - len(wanted), 'item')} too many"
    one, other = _window(got[first], wanted, first, 20), _window(wanted[first], got, first, 20)
    return f"the first difference is at {first}: {one} for {other}"


def _alt(got: list[str], wanted: list[str] | None, title: str, words: str) -> str:
    parts = [title, f"yours: {listed((cut(one, 40) for one in got), 24) or 'empty'}"]
    if wanted is not None:
        parts.append(f"wanted: {listed((cut(one, 40) for one in wanted), 24) or 'empty'}")
    return ". ".join(part for part in (*parts, words) if part)
