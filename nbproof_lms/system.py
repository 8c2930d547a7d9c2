"""What the tool has to know of a learning-management system, and where the systems are found that it knows.

Each module in ``systems/`` tells of one: a class, made once as ``SYSTEM``. Whatever it leaves out it does not offer.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from nbproof_lms.csv_table import Sheet

__all__ = ["Account", "GradeTable", "LmsEntry", "System", "find_system", "read_time", "systems", "zone_of"]

TIME = re.compile(r"(20\d\d)-?(\d\d)-?(\d\d)(?:[T_ -]+(\d\d)[-:.h]?(\d\d)(?:[-:.m]?(\d\d))?)?(?!\d)")


@dataclass(frozen=True)
class LmsEntry:
    """What the LMS says of one entry of its download, by the entry's name."""

    name: str
    """Who handed it in, as the LMS writes it."""
    file: str = ""
    """What the learner called the file; empty for a folder."""
    account: str = ""
    """The LMS's number of the learner."""
    when: datetime | None = None
    late: bool = False
    """Whether the LMS calls it late."""
    number: int = 0
    """Of two entries of one learner the later has the higher one; 0 if there is none."""
    hidden: bool = False
    """The LMS hides who it is: the name stands for somebody in this one download only."""
    others: tuple[str, ...] = ()
    """Numbers in what seems to be the learner's part of the name, of which one may be the number of who handed it in instead."""
    unsure: str = ""
    """Why it is nobody's for all that: a learner may have written what the LMS seems to say."""

    @property
    def only_a_name(self) -> bool:
        """Whether it holds nothing that only the LMS can give."""
        return not (self.account or self.when or self.number)


class Account(NamedTuple):
    """A number that a system has of a learner."""

    system: str
    number: str
    learner: str
    lesson: str = ""
    """Where it is theirs; empty if it is so everywhere."""

    @property
    def scope(self) -> tuple[str, ...]:
        """Within what two numbers are two people, and one is one."""
        return (self.lesson,) if self.lesson else ()


@dataclass(frozen=True)
class GradeTable:
    """Which columns of an export are what; columns are numbered from 0."""

    first_row: int
    """The first row of a learner; the head is row 0."""
    ids: tuple[int, ...]
    """Identifiers of a learner, the surest first."""
    names: tuple[int, ...]
    """Full name, or first and last name."""
    lessons: Mapping[int, str] = field(default_factory=dict)
    """Columns that may be a lesson's, and what they are called."""
    only: int | None = None
    """The one column for grades, where the whole table is about one lesson."""
    maxima: Mapping[int, float] = field(default_factory=dict)
    """The most that the LMS takes in a column, where it says so."""
    excused: str = ""
    """What a cell says of whom a teacher has excused; empty if the LMS has no word for it."""
    keep: tuple[int, ...] | None = None
    """Columns that are written beside the grades; None: all."""
    notes: tuple[str, ...] = ()


class System:
    """A learning-management system, or another one that hands over what learners handed in."""

    name = ""
    patterns: tuple[re.Pattern[str], ...] = ()
    """How the names look that it gives: what a learner may choose before the LMS's own words is matched lazily (``{1,80}?``)."""
    own_files: re.Pattern[str] = re.compile("(?!)")
    """How the names look of what it puts beside the entries of its download."""
    own_name: re.Pattern[str] = re.compile("(?!)")
    """How it calls its download as a whole: as no entry of any download can be called, whatever a learner names."""
    dates_entries = False
    """Whether the times of entries in its zip are those of handing in."""
    lasting_numbers = False
    """Whether its number of a learner is the same in every download."""
    export = ""
    """Where to click for the table that it wants grades in; empty if it takes none."""
    upload = ""
    """Where to click to hand back a zip of pages; empty if it takes none."""
    upload_remark = ""
    """What else a person has to know of that."""

    @property
    def option(self) -> str:
        """What the command line calls it."""
        return self.name.casefold()

    def beginnings(self, parts: Iterable[str]) -> Sequence[str]:
        """What all names of one download may begin with, the shortest first, if the LMS puts anything there."""
        return ()

    def read(self, part: str, below: bool, start: str = "") -> LmsEntry | None:
        """What the name of a file, folder or archive says; None if this LMS has not given it. ``below``: something lies in it.

        ``start``: what all names begin with; a pattern finds a slash in its place, which no name holds.
        """
        part = f"/{part[len(start) :]}" if start and part.startswith(start) else part
        for pattern in self.patterns:
            if (first := pattern.fullmatch(part)) and (entry := self.entry(first, below)):
                last = _greedy(pattern).fullmatch(part)
                why = f"{self.name} may have put {entry.name!r} there, or another part of it: who wrote the rest?"
                return replace(entry, unsure=entry.unsure if last and last.groups() == first.groups() else why)
        return None

    def also_called(self, name: str) -> Sequence[str]:
        """What the learner may be called instead whom it writes so, if the class has nobody of that name."""
        return ()

    def entry(self, found: re.Match[str], below: bool) -> LmsEntry | None:
        """What a name says that one of the patterns fits; None if this LMS has not given it after all."""
        return None

    def grade_table(self, sheet: Sheet) -> GradeTable | None:
        """What is where in an export of its gradebook; None if it is none."""
        return None

    def feedback_start(self, entry: LmsEntry) -> str:
        """What the name of a page must begin with that goes back to whoever handed this in; empty if nothing can."""
        return ""


@cache
def _greedy(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The same pattern, but it splits a name at the last place, not the first, and however long what stands before is."""
    return re.compile(re.sub(r"\{(\d+),\d+\}\?", r"{\1,}", pattern.pattern), pattern.flags)


@cache
def systems() -> dict[str, System]:
    """Every system that a module in ``systems/`` tells of, by name."""
    package = import_module("nbproof_lms.systems")
    modules = (import_module(f"{package.__name__}.{found.name}") for found in iter_modules(package.__path__))
    return {module.SYSTEM.name: module.SYSTEM for module in modules}


def find_system(option: str) -> System:
    """The system that the command line calls so."""
    return next(system for system in systems().values() if system.option == option)


def read_time(text: str) -> datetime | None:
    """A time as systems write it, UTC if no zone is said. None if there is none."""
    found = TIME.search(text)
    if found is None:
        return None
    parts = (int(part or 0) for part in found.groups())
    zone: tzinfo = UTC
    if told := re.fullmatch(r"[.,\d]*\s*([+-]\d\d:?\d\d|[A-Z]{3,4})\s*", text[found.end() :]):
        with contextlib.suppress(ValueError):
            zone = zone_of(told[1])
    try:
        return datetime(*parts, tzinfo=zone).astimezone(UTC)  # type: ignore[misc, arg-type]
    except (ValueError, OverflowError):
        return None


def zone_of(text: str) -> tzinfo:
    """``+01:00``, ``+0100``, ``CET``, ``Europe/Berlin``, ``Z``. Raises ValueError for any other."""
    if found := re.fullmatch(r"([+-])(\d\d):?(\d\d)", text):
        offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
        return timezone(offset if found[1] == "+" else -offset)
    try:
        return UTC if text == "Z" else ZoneInfo(text)
    except (ZoneInfoNotFoundError, OSError):
        raise ValueError(text) from None
