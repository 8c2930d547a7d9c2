"""What an exercise is called where people read: by the heading that stands above it in the instructor's notebook."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from nbproof.cells import CellKind, kind_of, name_of, text_of

__all__ = ["ITS_TESTS", "headings_in", "is_made_up", "titles_in"]

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
ITS_TESTS = "The tests of this exercise."
"""What is asked by tests that say nothing of themselves, in a cell that has no name either."""
_MADE_UP = re.compile(r"cell-\w{6,}")
_LONGEST = 160
"""Characters of a heading."""


def is_made_up(name: str) -> bool:
    """Whether nbgrader, and nobody else, has given a cell this name."""
    return _MADE_UP.fullmatch(name) is not None


def titles_in(cells: Iterable[Mapping[str, Any]], names: Collection[str]) -> dict[str, str]:
    """The title of each of these cells. Those below one heading have their names, or numbers, in it."""
    above = dict[str, str]()
    heading = ""
    for cell in cells:
        # The text of a task is its own; that of a written answer is a learner's.
        if kind_of(cell) in (CellKind.PROSE, CellKind.TASK):
            heading = next(reversed(headings_in(text_of(cell))), heading)
        if name_of(cell) in names:
            above.setdefault(name_of(cell), heading)
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
    """The headings of a markdown cell, as plain text in which only `code` is marked."""
    found = (first or second for first, second in _HEADING.findall(_FENCED.sub("", text)))
    return [told for one in found if (told := _plain(one))]


def _plain(heading: str) -> str:
    for markup, text in _MARKUP:
        heading = markup.sub(text, heading)
    told = " ".join(html.unescape(heading).split())
    rest = _KIND.sub("", told)
    return (told if rest == told else rest[:1].upper() + rest[1:])[:_LONGEST]
