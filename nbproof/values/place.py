"""Where an answer and what was wanted first differ, as plain data: what a picture of both is drawn from.

Of nested data that is the place which the check's sentence names. Draws nothing and needs no matplotlib, so that a
grader can note the place while it marks, and somebody else can draw it later.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from nbproof.values.compare import AnyOf, Close, Matches, is_same, nearest
from nbproof.values.evidence import Evidence, TensorRecord, key_text, snapshot

__all__ = ["Place", "is_single", "place_of", "plainly", "worth_drawing"]


@dataclass(frozen=True)
class Place:
    """Where the first difference is, and what stands there."""

    where: str
    got: Evidence
    wanted: object
    tolerance: tuple[float, float] | None = None
    """(rtol, atol) if the check has its own."""


def place_of(got: object, wanted: object) -> Place | None:
    """The first array, text, number or list of words that differs; None if nothing can be pointed at."""
    return _descend(Place("", snapshot(got), wanted))


def _descend(place: Place) -> Place | None:
    got, wanted = place.got, place.wanted
    if isinstance(wanted, AnyOf):
        return _descend(Place(place.where, got, nearest(got, wanted), place.tolerance))
    if isinstance(wanted, Close):
        return _descend(Place(place.where, got, wanted.value, (wanted.rtol, wanted.atol)))
    if isinstance(wanted, Matches):
        return None
    steps: list[tuple[str, Evidence, object]] = []
    if isinstance(wanted, Mapping) and isinstance(got, dict) and {key_text(key) for key in wanted} <= set(got):
        named = [(key, key_text(key), value) for key, value in wanted.items()]
        steps = [(f"[{key!r}]" if place.where else text, got[text], value) for key, text, value in named]
    elif isinstance(wanted, (list, tuple)) and isinstance(got, list) and not _order(got, wanted):
        steps = [(f"[{at}]", one, other) for at, (one, other) in enumerate(zip(got, wanted, strict=True))]
    for step, one, other in steps:
        within = other if place.tolerance is None else Close(other, *place.tolerance)
        if not is_same(one, within):
            return _descend(Place(place.where + step, one, other, place.tolerance))
    return place


def _order(got: list[Evidence], wanted: list[object] | tuple[object, ...]) -> bool:
    """Whether two lists are best seen as wholes: of different lengths, or of words and numbers."""
    return len(got) != len(wanted) or all(_wordy(item) for side in (got, wanted) for item in side)


def _wordy(item: object) -> bool:
    """Whether a list's item is a word or a number, or a few of them: ('enter', 'fc')."""
    if isinstance(item, (list, tuple)):
        return len(item) <= 4 and all(is_single(part) for part in item)
    return is_single(item)


def is_single(item: object) -> bool:
    """Whether something is one word or one number."""
    return item is None or isinstance(item, (str, bool, int, float))


def plainly(wanted: object) -> object:
    """What was wanted, without what tells the comparison how to compare: the first of several, what a test asks for."""
    if isinstance(wanted, AnyOf):
        return plainly(wanted.options[0])
    if isinstance(wanted, Close):
        return plainly(wanted.value)
    if isinstance(wanted, Matches):
        return f"{wanted.says}"
    if isinstance(wanted, Mapping):
        return {key: plainly(value) for key, value in wanted.items()}
    return [plainly(item) for item in wanted] if isinstance(wanted, (list, tuple)) else wanted


def worth_drawing(place: Place) -> bool:
    """Whether a picture tells more than a sentence: not for single numbers and words, nor for values of another type."""
    plain = [snapshot(plainly(side)) for side in (place.got, place.wanted)]
    return len({_family(side) for side in plain}) == 1 and any(_count(side) > 1 for side in plain)


def _family(side: Evidence) -> str:
    if isinstance(side, (bool, int, float)):
        return "number"
    return type(side).__name__


def _count(side: Evidence) -> int:
    if isinstance(side, TensorRecord):
        return math.prod(side.shape)
    if isinstance(side, str):
        return 2 if len(side) > 40 or "\n" in side else 1
    return len(side) if isinstance(side, (list, dict)) else 1
