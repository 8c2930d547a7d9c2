"""What one text says otherwise than another one: words that were added, and words that were taken away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rapidfuzz.distance import Indel

__all__ = ["Passage", "difference"]

_WORD = re.compile(r"\s*(?:\w+|[^\w\s])")
"""A word or a sign, with the space before it: in code that means something."""


@dataclass(frozen=True)
class Passage:
    """A piece of both texts, or of one: ``added`` stands in the second one alone, ``gone`` in the first one alone."""

    text: str
    added: int = 0
    """How many words and signs were added here."""
    gone: int = 0

    @property
    def words(self) -> str:
        """The text without the space before it."""
        return self.text.lstrip()

    @property
    def space(self) -> str:
        """The space before it."""
        return self.text[: len(self.text) - len(self.words)]


def difference(first: str, second: str, *, spaces_count: bool) -> list[Passage]:
    """The pieces of both texts, in order. ``spaces_count``: whether other spaces make another text, as in code."""
    words, others = _words(first, spaces_count), _words(second, spaces_count)
    return [one for one in _passages(words, others) if one.text]


def _words(text: str, spaces_count: bool) -> list[str]:
    if not spaces_count:
        text = " ".join(text.split())
    return _WORD.findall(text)


def _passages(words: list[str], others: list[str]) -> Iterator[Passage]:
    """What was taken away stands before what was added there."""
    gone: list[str] = []
    added: list[str] = []
    for change in Indel.opcodes(words, others):
        if change.tag == "equal":
            yield Passage("".join(gone), gone=len(gone))
            yield Passage("".join(added), added=len(added))
            yield Passage("".join(words[change.src_start : change.src_end]))
            gone, added = [], []
        gone += words[change.src_start : change.src_end] * (change.tag != "equal")
        added += others[change.dest_start : change.dest_end] * (change.tag != "equal")
    yield Passage("".join(gone), gone=len(gone))
    yield Passage("".join(added), added=len(added))
