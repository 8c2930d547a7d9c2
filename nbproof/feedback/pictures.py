"""Pictures of yours beside wanted, as a page holds them. A class makes the same mistakes: equal ones are drawn once."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nbproof.course_file import the_course
from nbproof.feedback.sanitize_text import harmless

__all__ = ["Drawn", "drawn"]

_PIXELS = 96
"""CSS pixels an inch."""


@dataclass(frozen=True)
class Drawn:
    """A PNG in base64, what it shows in words, and how wide and high it is to be shown, in CSS pixels."""

    png: str
    alt: str
    width: int
    height: int


def drawn(compared: dict[str, Any] | None) -> Drawn | None:
    """The picture of what a verdict carries; None where it carries nothing, or nothing that can be drawn."""
    return _drawn(json.dumps(compared, sort_keys=True)) if compared else None


@lru_cache(maxsize=512)
def _drawn(packed: str) -> Drawn | None:
    # Here and not above: most pages of a class have no picture, and what draws them costs seconds.
    from nbproof.marking.comparison import unpack

    place, pictures = unpack(json.loads(packed)), the_course().pictures()
    picture = None if place is None or pictures is None else pictures.draw_place(place)
    if picture is None:
        return None
    png = base64.b64encode(picture.png(colours=32, scale=1.5)).decode("ascii")
    width, height = (round(float(inches) * _PIXELS) for inches in picture.get_size_inches())
    return Drawn(png, harmless(picture.alt, 1_500), width, height)
