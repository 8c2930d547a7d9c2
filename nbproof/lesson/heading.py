"""Headings of a lesson: what announces an exercise or a question, and what a cell is called where people read.

An author writes an exercise's title, difficulty and minutes above its TODO cell, and a question right above its answer::

    ### Exercise: A chain in any order           ### In your own words: Why twice?

    easy · 7 min                                 5 min

or ``easy · 7 min · further``, beyond the core path. A build writes points beside, and the exercise's id. No other module reads
any of it.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Collection, Iterable

from nbproof.cells import CellKind, is_made_up
from nbproof.lesson.lesson import Cell

__all__ = [
    "announced",
    "asked",
    "asks_at",
    "begins_further",
    "built",
    "headings_in",
    "lesson_title",
    "points_in_words",
    "sections",
    "titles_in",
    "unannounced",
    "with_points",
]

_EXERCISE = r"### Exercise: (?P<title>.+)\n+(?P<effort>(?P<difficulty>easy|medium|hard) · (?P<minutes>\d+) min)"
_FURTHER = r"(?P<further> · further)?"
_WRITTEN = re.compile(rf"{_EXERCISE}{_FURTHER}[ \t]*$", re.MULTILINE)
_BUILT = re.compile(rf"^{_EXERCISE} · [^·`\n]+{_FURTHER} · `(?P<id>\w+)`$", re.MULTILINE)
_QUESTION = re.compile(r"^### In your own words: (?P<title>.+)$", re.MULTILINE)
_MINUTES = re.compile(r"\s*(?P<minutes>\d+) min[ \t]*$", re.MULTILINE)
_ASKS = re.compile(r"^### (?:Exercise: |In your own words: )", re.MULTILINE)
_EXERCISES = re.compile(r"^### Exercise:", re.MULTILINE)
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_SECTION = re.compile(r"^(#+)\s+(?:Exercise:\s*)?(.+?)\s*#*$", re.MULTILINE)
_BEYOND = re.compile(r"^#+ Further\b", re.MULTILINE)


_Effort = tuple[str, str, int, bool]
"""Of an exercise its title, its difficulty, its minutes, and whether it lies beyond the core path."""


def announced(text: str) -> tuple[_Effort, str] | None:
    """The last exercise that a text of an author announces, and the text below the line of minutes; None if there is none."""
    found = _last(text)
    return (_effort(found), text[found.end() :]) if found is not None else None


def built(text: str) -> dict[str, _Effort]:
    """By their ids, all exercises that a text announces which a build has made."""
    return {found["id"]: _effort(found) for found in _BUILT.finditer(text)}


def _last(text: str) -> re.Match[str] | None:
    return next(reversed(list(_WRITTEN.finditer(text))), None)


def _effort(found: re.Match[str]) -> _Effort:
    return found["title"], found["difficulty"], int(found["minutes"]), found["further"] is not None


def asked(text: str) -> tuple[str, int, int] | None:
    """The last question that a text of an author asks: its title, its minutes, and where the line of minutes ends.

    None if nothing is asked below that line.
    """
    heading = next(reversed(list(_QUESTION.finditer(text))), None)
    found = _MINUTES.match(text, heading.end()) if heading is not None else None
    if heading is None or found is None or not text[found.end() :].strip():
        return None
    return heading["title"], int(found["minutes"]), found.end()


def with_points(text: str, points: float, exercise: str = "") -> str:
    """The text with points beside the line of minutes; for an exercise, which it announces, with its id as well."""
    found = _last(text) if exercise else None
    if found is not None:
        line = f"{found['effort']} · {points_in_words(points)}{found['further'] or ''} · `{exercise}`"
        return text[: found.start("effort")] + line + text[found.end() :]
    question = asked(text)
    if exercise or question is None:
        return text
    return f"{text[: question[2]]} · {points_in_words(points)}{text[question[2] :]}"


def points_in_words(points: float) -> str:
    """A number of points, as prose has it."""
    return f"{points:g} point" if points == 1 else f"{points:g} points"


def asks_at(text: str) -> int:
    """Where a text announces an exercise or a question; -1 if it announces none."""
    found = _ASKS.search(text)
    return found.start() if found is not None else -1


def begins_further(text: str) -> bool:
    """Whether what is beyond the core path begins here."""
    return _BEYOND.search(text) is not None


def lesson_title(prose: str) -> str:
    """A lesson's title; empty if it has none."""
    found = _TITLE.search(prose)
    return found[1].strip() if found is not None else ""


def unannounced(text: str) -> str:
    """The text with its headings of exercises as headings of nothing in particular."""
    return _EXERCISES.sub("###", text)


def sections(text: str, least: int = 1) -> list[str]:
    """The headings as they are written, but for the word Exercise; ``least``: with so many signs at least."""
    return [title for signs, title in _SECTION.findall(text) if len(signs) >= least]


# What an exercise is called where people read: by the heading that stands above it in the instructor's notebook.

_FENCED = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*?)[ \t#]*$|<h[1-6]\b[^>]*>(.*?)</h[1-6]>", re.MULTILINE | re.IGNORECASE)
_KIND = re.compile(r"^(?:Exercise|In your own words): ")
"""How a built lesson begins such headings, to people who know that they read of an exercise."""
_MARKUP = (
    (re.compile(r"!\[[^\]]*\]\([^)]*\)|<[^<>]*>"), ""),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"(\*\*|__|(?<![\w*])\*(?=\w))(.+?)(\*\*|__|(?<=\w)\*(?![\w*]))"), r"\2"),
    (re.compile(r"\\([#*_()\[\]-])"), r"\1"),
)
_LONGEST = 160
"""Characters of a heading."""


def titles_in(cells: Iterable[Cell], names: Collection[str]) -> dict[str, str]:
    """The title of each of these cells. Those below one heading have their names, or numbers, in it."""
    above = dict[str, str]()
    heading = ""
    for cell in cells:
        # The text of a task is its own; that of a written answer is a learner's.
        if cell.kind in (CellKind.PROSE, CellKind.TASK):
            heading = next(reversed(headings_in(cell.source)), heading)
        if cell.grade_id in names:
            above.setdefault(cell.grade_id, heading)
    shared, met = Counter(above.values()), Counter[str]()
    titles = dict[str, str]()
    for name, heading in above.items():
        met[heading] += 1
        told = f"part {met[heading]} of {shared[heading]}" if is_made_up(name) else name.replace("_", " ")
        if not heading:
            titles[name] = f"Exercise {met[heading]}" if is_made_up(name) else told
        else:
            titles[name] = heading if shared[heading] == 1 else f"{heading}: {told}"
    return titles


def headings_in(text: str) -> list[str]:
    """The headings of a markdown cell, as plain text with marks only for `code`."""
    found = (first or second for first, second in _HEADING.findall(_FENCED.sub("", text)))
    return [told for one in found if (told := _plain(one))]


def _plain(heading: str) -> str:
    for markup, text in _MARKUP:
        heading = markup.sub(text, heading)
    told = " ".join(html.unescape(heading).split())
    rest = _KIND.sub("", told)
    if rest != told:
        rest = rest[:1].upper() + rest[1:]
    return rest[:_LONGEST]
