"""Where an answer and what was wanted first differ, as plain data: what a picture of both is drawn from.

Of nested data that is the place which the check's sentence names. Draws nothing and needs no matplotlib, so that a
grader can note the place while it marks, and somebody else can draw it later.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from nbproof.values.compare import AnyOf, Close, Differs, Matches, Place, is_single, parting
from nbproof.values.evidence import Evidence, TensorRecord, snapshot

__all__ = ["Place", "is_single", "place_of", "plainly", "worth_drawing"]


def place_of(got: object, wanted: object) -> Place | None:
    """The first array, text, number or list of words that differs; None if nothing can be pointed at."""
    whole = Place("", snapshot(got), wanted)
    found = parting(whole)
    if found is None:
        return whole
    return None if found.kind is Differs.ASKED else found.around or found.place


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
