"""What a difference shows of a value, short and readable: as Python or its library prints it, or what sort of thing it is.

That has to be made where the value is at hand. Words of a language come from the course's language.
"""

from __future__ import annotations

import math

from nbproof.values.evidence import Evidence, Parts, TensorRecord, Unreadable

__all__ = ["in_words", "sort_and_value", "sort_of"]

_SHOWN_WHOLE, _SHOWN_FIRST = 64, 6
"""Elements: up to how many an array is shown as its library prints it, and how many are shown of a larger one."""


def in_words(value: Evidence, limit: int = 160) -> str:
    """A short, readable form of plain data: ``tensor([5., 6.])``."""
    text = _words(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _words(value: Evidence) -> str:
    if isinstance(value, TensorRecord):
        if len(value.data) > 2**20:
            return sort_of(value)
        array = value.tensor()
        if math.prod(value.shape) <= _SHOWN_WHOLE:
            return " ".join(repr(array).split())
        # The library would format each element, for a text that is cut after the first few.
        head, bracket, tail = " ".join(repr(array.flatten()[:_SHOWN_FIRST]).split()).rpartition("]")
        from nbproof.values.words import words

        return words().text("of shape", what=f"{head}, ...{bracket}{tail}", shape=value.shape)
    if isinstance(value, (Unreadable, Parts)):
        return sort_of(value)
    if isinstance(value, list):
        shown = ", ".join(in_words(item, 60) for item in value[:6])
        return f"[{shown}{', ...' if len(value) > 6 else ''}]"
    if isinstance(value, dict):
        shown = ", ".join(f"{key!r}: {in_words(item, 60)}" for key, item in list(value.items())[:6])
        return f"{{{shown}{', ...' if len(value) > 6 else ''}}}"
    return repr(value)


def sort_of(value: Evidence) -> str:
    """What sort of thing a value is."""
    from nbproof.values.words import words

    ours = words()
    if isinstance(value, Parts):
        return value.noun
    if isinstance(value, (list, dict)):
        return ours.sort(type(value).__name__, ours.counted("items", len(value)))
    if isinstance(value, TensorRecord):
        noun = ours.sort(value.leaf.name, otherwise=value.leaf.noun)
        return ours.text("of shape", what=noun, shape=value.shape)
    if isinstance(value, Unreadable):
        return ours.sort(value.what, value.of)
    return ours.sort(type(value).__name__)


def sort_and_value(value: Evidence) -> str:
    """The sort of a value, with the value if that is short."""
    return f"{sort_of(value)}, {in_words(value, 60)}" if isinstance(value, (str, bool, int, float)) else sort_of(value)
