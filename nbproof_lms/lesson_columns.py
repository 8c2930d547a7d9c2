"""Which column of an LMS's export is which lesson's: by what the instructor says, or by name.

Grades in another column than theirs are worse than none: where two columns may be meant, a person says which.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbproof_lms.names import TASK, bare
from nbproof_lms.sheet_columns import item_of

__all__ = ["Columns", "columns_of"]


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


def _called(names: Mapping[int, str], name: str) -> int | None:
    """The column with this name, as a person writes it: with the LMS's id, or without."""
    for form in (str.strip, bare, lambda text: bare(item_of(text))):
        found = [column for column, one in names.items() if form(one) == form(name)]
        if len(found) == 1:
            return found[0]
    return None


_WORDS = TASK | {"hw", "lab", "week", "unit", "chapter", "module", "session", "ex", "part"}
_NUMBERED = re.compile(r"([^\W\d_]+)[\W_]*0*(\d{1,9})\b\W*(.*)")
"""``Lesson 1: Anatomy``, ``HW01``."""


def _found(names: Mapping[int, str], slug: str, title: str) -> list[int]:
    """The columns that may be a lesson's: those that bear its name, else those of its number."""
    number, _, topic = slug.partition("_")
    wanted = {bare(text) for text in (slug, title, title.partition(":")[0], number + title, topic)} - {""}
    found = [column for column, name in names.items() if bare(item_of(name)) in wanted]
    if found:
        return found
    parts = {column: _NUMBERED.fullmatch(item_of(name).strip()) for column, name in names.items()}
    return [column for column, part in parts.items() if part and _is_numbered(part, number, wanted | {""})]


def _is_numbered(part: re.Match[str], number: str, wanted: set[str]) -> bool:
    """Whether it is a task's word and this number, with nothing behind it but the lesson's name."""
    word, digits, rest = part.groups()
    return word.casefold() in _WORDS and digits == number.lstrip("0") and bare(rest) in wanted
