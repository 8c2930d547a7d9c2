"""Words for plain data: what a difference says of a value, short and readable."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from nbproof.text import counted
from nbproof.values.evidence import Evidence, Parts, TensorRecord, Unreadable

__all__ = ["in_words", "sort_and_value", "sort_of", "wordless"]

_wordless: ContextVar[bool] = ContextVar("wordless", default=False)
"""Set while nobody will read what a difference says: finding words for an array takes longer than comparing it."""


_SHOWN_WHOLE, _SHOWN_FIRST = 64, 6
"""Elements: up to how many an array is shown as its library prints it, and how many are shown of a larger one."""


@contextmanager
def wordless() -> Iterator[None]:
    """Within this block :func:`in_words` says nothing."""
    before = _wordless.set(True)
    try:
        yield
    finally:
        _wordless.reset(before)


def in_words(value: Evidence, limit: int = 160) -> str:
    """A short, readable form of plain data: ``tensor([5., 6.])``."""
    if _wordless.get():
        return ""
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
        return f"{head}, ...{bracket}{tail} of shape {value.shape}"
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
    if isinstance(value, TensorRecord):
        return f"{value.leaf.noun} of shape {value.shape}"
    if isinstance(value, (Unreadable, Parts)):
        return value.what if isinstance(value, Unreadable) else value.noun
    if isinstance(value, list):
        return f"a list of {counted(len(value), 'item')}"
    if isinstance(value, dict):
        return f"a dict of {counted(len(value), 'item')}"
    if value is None:
        return "None"
    return {"str": "text", "bool": "a bool", "int": "an int", "float": "a float"}[type(value).__name__]


def sort_and_value(value: Evidence) -> str:
    """The sort of a value, with the value if that is short."""
    return f"{sort_of(value)}, {in_words(value, 60)}" if isinstance(value, (str, bool, int, float)) else sort_of(value)
