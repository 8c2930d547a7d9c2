"""Makes short, readable texts of values: as Python or their library prints them, or what sort of thing they are.

That has to be done where the value is at hand. The words are those of a language.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nbproof.values.evidence import Evidence, Parts, TensorRecord, Unreadable

if TYPE_CHECKING:
    from nbproof.values.words import Language

__all__ = ["in_words", "shown", "sort_and_value", "sort_of"]

_SHOWN_WHOLE = 64
"""Elements of the largest array that is shown as its library prints it."""
_SHOWN_FIRST = 6
"""Elements that are shown of a larger one, and items of a list or dict."""
_LONGEST_ITEM = 60
"""Characters of one of them."""


def in_words(value: Evidence, limit: int = 160) -> str:
    """A short, readable text of plain data, such as ``tensor([5., 6.])``, for a sentence that an author writes in English.

    For one in another language there is :func:`shown`, with the ``WORDS`` of that language. ``limit``: its characters at most.
    """
    from nbproof.values.words import ENGLISH

    return shown(value, ENGLISH, limit)


def shown(value: Evidence, words: Language, limit: int = 160) -> str:
    """The same text in a language."""
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
        items = [shown(item, words, _LONGEST_ITEM) for item in value[:_SHOWN_FIRST]]
        return f"[{_joined(items, len(value))}]"
    if isinstance(value, dict):
        pairs = list(value.items())[:_SHOWN_FIRST]
        items = [f"{key!r}: {shown(item, words, _LONGEST_ITEM)}" for key, item in pairs]
        return f"{{{_joined(items, len(value))}}}"
    return repr(value)


def _joined(shown: Sequence[str], count: int) -> str:
    """The items that are shown, of ``count`` items."""
    rest = ", ..." if count > len(shown) else ""
    return ", ".join(shown) + rest


def sort_of(value: Evidence, words: Language) -> str:
    """The sort of thing that a value is, such as ``a list of 3 items``."""
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
    if isinstance(value, (str, bool, int, float)):
        return f"{sort_of(value, words)}, {shown(value, words, _LONGEST_ITEM)}"
    return sort_of(value, words)
