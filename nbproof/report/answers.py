"""Learners' answers as text, without what could tell whose they are.

By a lexer of our own (:mod:`nbproof.recover.pieces`), because most answers that matter here are wrong, and half of those
do not parse. Texts are cut at 20,000 characters.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from nbproof.recover.pieces import tokens
from nbproof.values.leaf import leaf_words

__all__ = ["anonymous"]

_LONGEST = 1500
"""Characters of an answer that is shown as an example."""
_NAME = re.compile(r"[^\W\d]\w*+")
_WORD = re.compile(r"[^\W\d_]+")
_SPOKEN = frozenset([*keyword.kwlist, *dir(builtins), "self", "cls", "__init__", "__call__", "__name__", "__class__"])


@lru_cache(maxsize=4096)
def _words_of(text: str) -> frozenset[str]:
    """The words that identifiers of a text are made of, in lower case: ``word_list`` has two."""
    return frozenset(word.lower() for word in _WORD.findall(text))


@lru_cache(maxsize=64)
def _known_words(given: str) -> frozenset[str]:
    """All identifiers of a text, Python's own names among them: nobody's choice."""
    # Not by the lexer: in prose an apostrophe would swallow a line.
    return _SPOKEN.union(_NAME.findall(given), leaf_words().aliases)


def anonymous(answer: str, given: str, names: Iterable[str] = ()) -> str:
    """An answer without what could tell whose it is.

    Comments and docstrings go, and so does the text of strings that the course did not give. A name of
    which any word is neither the course's nor Python's, or that holds a learner's name, gets a number.
    Methods of other objects keep their names.
    """
    people, spoken = _people(tuple(names)), _known_words(given)
    never = _SPOKEN.union(leaf_words().aliases)
    words = _words_of(given) | _words_of(" ".join(never))
    numbers: dict[str, str] = {}
    lines = []
    for line in _lines(answer):
        shown = []
        before: list[str] = []
        bare = [text for kind, text in line if kind not in ("space", "comment")]
        for kind, text in line:
            if kind == "comment":
                continue
            if kind == "string":
                if len(bare) == 1:
                    continue
                inside = text.strip("rbufRBUF").strip("\"'")
                text = text if not inside or (inside in given and not _holds(inside, people)) else '"..."'
            elif kind == "name" and not (text in never or _may_stay(text, before, words, people, spoken)):
                text = numbers.setdefault(text, f"name_{len(numbers) + 1}")
            elif kind == "number" and len(text) > 6:
                text = "0"
            shown.append(text)
            if kind != "space":
                before = [*before[-1:], text]
        joined = "".join(shown).rstrip()
        if joined:
            lines.append(joined)
    text = "\n".join(lines)
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit("\n", 1)[0] + "\n..."


def _lines(source: str) -> Iterator[list[tuple[str, str]]]:
    line: list[tuple[str, str]] = []
    for kind, text in tokens(source):
        if kind == "newline":
            yield line
            line = []
        else:
            line.append((kind, text))
    yield line


def _may_stay(text: str, before: list[str], words: frozenset[str], people: _People, spoken: frozenset[str]) -> bool:
    if _holds(text, people):
        return False
    if text in spoken or all(len(word) < 3 or word.lower() in words for word in _WORD.findall(text)):
        return True
    # Of a method that is called, not of an attribute that the learner made.
    return before[-1:] == ["."] and before[:1] != ["self"]


@dataclass(frozen=True)
class _People:
    """The words of the names of a class; ``inside`` finds the longer ones within other words."""

    words: frozenset[str]
    inside: re.Pattern[str]


@lru_cache(maxsize=4)
def _people(names: tuple[str, ...]) -> _People:
    words = frozenset(word.lower() for name in names for word in _WORD.findall(name) if len(word) > 2)
    longer = sorted(word for word in words if len(word) > 3)
    return _People(words, re.compile("|".join(map(re.escape, longer)) or r"(?!)"))


def _holds(text: str, people: _People) -> bool:
    return not people.words.isdisjoint(_words_of(text)) or people.inside.search(text.lower()) is not None
