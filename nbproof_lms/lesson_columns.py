"""Which column of an LMS's export is which lesson's: by what the instructor says, by name, or by number and words.

Grades in another column than theirs are worse than none: where two columns may be meant, a person says which.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbproof_lms.names import COPY, TASK, bare
from nbproof_lms.sheet_columns import item_of

__all__ = ["Columns", "column_of", "columns_of"]


@dataclass(frozen=True)
class Columns:
    """What was found of the lessons that have grades."""

    places: Mapping[str, int]
    """Lesson -> column."""
    unclear: Mapping[str, tuple[str, ...]]
    """Lesson -> the names of the columns that may be meant."""
    without: tuple[str, ...]
    """Lessons of which no column is."""


def columns_of(
    names: Mapping[int, str], lessons: Sequence[str], titles: Mapping[str, str], chosen: Mapping[str, str]
) -> Columns:
    """``names``: column -> what it is called. ``chosen``: lesson -> the column's name, as a person has said."""
    places: dict[str, int] = {}
    unclear: dict[str, tuple[str, ...]] = {}
    without = []
    said = {lesson: _called(names, column) for lesson, column in chosen.items()}
    free = {column: name for column, name in names.items() if column not in said.values()}
    for lesson in lessons:
        own = said.get(lesson)
        found = _found(free, lesson, titles.get(lesson, "")) if own is None else [own]
        if len(found) == 1:
            places[lesson] = found[0]
        elif found:
            unclear[lesson] = tuple(names[column] for column in found)
        else:
            without.append(lesson)
    for column in set(places.values()):
        sharing = [lesson for lesson, place in places.items() if place == column]
        for lesson in sharing if len(sharing) > 1 else ():
            del places[lesson]
            unclear[lesson] = (names[column],)
    return Columns(places, unclear, tuple(without))


def column_of(names: Sequence[str], slug: str, title: str) -> int | None:
    """Which of these names is a lesson's; None if none is, or if several may be meant."""
    found = _found(dict(enumerate(names)), slug, title)
    return found[0] if len(found) == 1 else None


def _called(names: Mapping[int, str], name: str) -> int | None:
    """The column with this name, as a person writes it: with the LMS's id, or without."""
    for form in (str.strip, bare, lambda text: bare(item_of(text))):
        found = [column for column, one in names.items() if form(one) == form(name)]
        if len(found) == 1:
            return found[0]
    return None


def _found(names: Mapping[int, str], slug: str, title: str) -> list[int]:
    """The columns that may be a lesson's, by the surest sign that any of them has."""
    cleaned = {column: bare(item_of(name)) for column, name in names.items()}
    number, _, topic = slug.partition("_")
    wanted = [bare(slug), bare(title), bare(number + title), bare(topic)]
    for exact in wanted:
        found = [column for column, name in cleaned.items() if exact and name == exact]
        if len(found) == 1:
            return found
    # "Homework 2: 02_sorting", "Lesson 02 Sorting"
    for part in wanted[:3]:
        found = [column for column, name in cleaned.items() if len(part) > 5 and part in name]
        if len(found) == 1:
            return found
    lesson = _Sign(slug, title)
    for rule in (lesson.has_number_and_words, lesson.has_words, lesson.has_number_only):
        found = [column for column, name in names.items() if rule(item_of(name))]
        if found:
            return found
    return []


_NUMBERED = TASK | frozenset(("hw", "lab", "week", "unit", "chapter", "module", "session", "ex", "part"))
"""Words that stand before a lesson's number."""
_OTHER = frozenset(
    re.findall(r"\w+", "quiz exam midterm survey poll attendance participation bonus total score grade average reading")
)
"""What has a column of its own although it is about the same."""
_SAY_NOTHING = COPY | frozenset(
    re.findall(
        r"\w+", "a an and are at by for from in is it its nn of on one or that the their this to what with you your"
    )
)


class _Sign:
    """By what a lesson is known in a column's name that is not its own."""

    def __init__(self, slug: str, title: str) -> None:
        number, _, topic = slug.partition("_")
        self.number = int(number) if number.isdecimal() else None
        self.topic = _words(topic) - _SAY_NOTHING
        self.words = self.topic | (_words(title) - _SAY_NOTHING)

    def has_number_and_words(self, name: str) -> bool:
        """ "Lesson 1: Anatomy"."""
        numbers = _numbers(name)
        return numbers == {self.number} and bool(_telling(name) & self.words) and self._may(name)

    def has_words(self, name: str) -> bool:
        """ "Module anatomy", with no number or its own."""
        whole = bool(self.topic) and self.topic <= _words(name)
        # One word alone says little: then nothing else may stand beside it.
        sure = len(self.topic) > 1 or _telling(name) <= self.words
        return whole and sure and _numbers(name) <= {self.number} and self._may(name)

    def has_number_only(self, name: str) -> bool:
        """ "Lesson 1", "HW 01"."""
        return _numbers(name) == {self.number} and bool(_words(name)) and not _telling(name)

    def _may(self, name: str) -> bool:
        return not _words(name) & _OTHER - self.words


def _words(text: str) -> set[str]:
    """Its words, without the letters between them; a plural is the same word."""
    found = re.findall(r"[^\W\d_]+", text.casefold())
    return {word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found}


def _telling(name: str) -> set[str]:
    """The words of a column's name that say what it is about."""
    return _words(name) - _words(" ".join(_NUMBERED)) - _SAY_NOTHING


def _numbers(name: str) -> set[int]:
    return {int(digits) for digits in re.findall(r"\d{1,9}", name)}
