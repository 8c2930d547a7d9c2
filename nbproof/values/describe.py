"""What a difference shows of a value, short and readable: as Python or its library prints it, or what sort of thing it is.

That has to be made where the value is at hand, and it is told in the language of a course.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nbproof.values.evidence import Evidence, Parts, TensorRecord, Unreadable

if TYPE_CHECKING:
    from nbproof.values.words import Language

__all__ = ["in_words", "shown", "sort_and_value", "sort_of"]

_SHOWN_WHOLE, _SHOWN_FIRST = 64, 6
"""Elements: up to how many an array is shown as its library prints it, and how many are shown of a larger one."""


def in_words(value: Evidence, limit: int = 160) -> str:
    """A short, readable form of plain data, for a sentence that an author writes: ``tensor([5., 6.])``."""
    from nbproof.values.words import ENGLISH

    return shown(value, ENGLISH, limit)


def shown(value: Evidence, words: Language, limit: int = 160) -> str:
    """The same in the language of a course."""
    text = _whole(value, words)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _whole(value: Evidence, words: Language) -> str:
    if isinstance(value, TensorRecord):
        if len(value.data) > 2**20:
            return sort_of(value, words)
        array = value.tensor()
        if math.prod(value.shape) <= _SHOWN_WHOLE:
            return " ".join(repr(array).split())
        # The library would format each element, for a text that is cut after the first few.
        head, bracket, tail = " ".join(repr(array.flatten()[:_SHOWN_FIRST]).split()).rpartition("]")
        return words.text("of shape", what=f"{head}, ...{bracket}{tail}", shape=value.shape)
    if isinstance(value, (Unreadable, Parts)):
        return sort_of(value, words)
    if isinstance(value, list):
        items = ", ".join(shown(item, words, 60) for item in value[:6])
        return f"[{items}{', ...' if len(value) > 6 else ''}]"
    if isinstance(value, dict):
        items = ", ".join(f"{key!r}: {shown(item, words, 60)}" for key, item in list(value.items())[:6])
        return f"{{{items}{', ...' if len(value) > 6 else ''}}}"
    return repr(value)


def sort_of(value: Evidence, words: Language) -> str:
    """What sort of thing a value is."""
    if isinstance(value, Parts):
        return value.noun
    if isinstance(value, (list, dict)):
        return words.sort(type(value).__name__, words.counted("items", len(value)))
    if isinstance(value, TensorRecord):
        noun = words.sort(value.leaf.name, otherwise=value.leaf.noun)
        return words.text("of shape", what=noun, shape=value.shape)
    if isinstance(value, Unreadable):
        return words.sort(value.what, value.of)
    return words.sort(type(value).__name__)


def sort_and_value(value: Evidence, words: Language) -> str:
    """The sort of a value, with the value if that is short."""
    sort = sort_of(value, words)
    return f"{sort}, {shown(value, words, 60)}" if isinstance(value, (str, bool, int, float)) else sort
