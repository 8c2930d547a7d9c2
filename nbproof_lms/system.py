"""What the tool has to know of a learning-management system (LMS), and the list of the systems that it knows.

Each module in ``systems/`` describes one by an instance of a class, and so may an installed package
(:data:`nbproof.doors.SYSTEMS`). What the class leaves out is not offered.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from nbproof.command import course_command
from nbproof.doors import SYSTEMS
from nbproof.errors import CourseError, UsageError
from nbproof_lms.csv_table import Sheet

__all__ = ["Fetched", "GradeTable", "LmsEntry", "Numbers", "System", "fetch", "find_system", "offered", "systems"]


@dataclass(frozen=True)
class LmsEntry:
    """What the LMS says of one entry of its download, by the entry's name.

    ``name``: who handed it in, as the LMS writes it; ``account``: its number of the learner; ``file``: the learner's name for
    the file, empty for a folder. ``when``: when it came; ``late``: whether the LMS says only that it was late; ``said``: a time
    as the LMS writes it, if that cannot be read. ``number``: of two entries of one learner the later has the higher one.
    ``others``: numbers in what seems to be the learner's part of the name; one of them may be the account instead.
    ``unsure``: a sentence if it is nobody's for all that, because a learner may have written what the LMS seems to say.
    """

    name: str
    file: str = ""
    account: str = ""
    when: datetime | None = None
    late: bool = False
    number: int = 0
    others: tuple[str, ...] = ()
    unsure: str = ""
    said: str = ""


@dataclass(frozen=True)
class Fetched:
    """One hand-in that a system has fetched by itself, so that no file's name has to say anything.

    ``who``: the learner's id, or another name or number that the roster has of them; ``path``: the file, or the folder with all
    that was handed in, on this disk. ``lesson``: its lesson or assignment, if the system knows it; otherwise its content
    decides. ``when``, with its time zone, and ``late``, if the system says it: never what a learner wrote, such as a commit's
    date.
    """

    who: str
    path: Path
    lesson: str = ""
    when: datetime | None = None
    late: bool = False


Numbers = dict[tuple[str, str], set[tuple[str, str]]]
"""(system, lesson) -> pairs of a learner and the number of that learner. The lesson is empty if a number is the same in all."""


@dataclass(frozen=True)
class GradeTable:
    """What each column of an export holds. Columns and rows are numbered from 0: row 0 is the head.

    ``first_row``: the first row of a learner. ``ids``: columns of identifiers, the surest first; ``numbers``: those of them with
    the LMS's own number of the learner; ``names``: the column of the full name, or those of first and last. ``lessons``: columns
    that may be a lesson's, and their names; ``only``: the one column for grades, if the whole table is about one lesson.
    ``assigned``: row -> the number that its learner has in the one assignment of the table, as the roster writes it.
    ``maxima``: column -> the texts in which the LMS says the most points that it takes there.
    ``excused``: the text of a cell if a teacher has excused the learner. ``locked``: rows that take no grade.
    ``keep``: columns that are written beside the grades; None: all. ``status``: the column that says whether somebody handed in.
    ``notes``: sentences for the person who asked.
    """

    first_row: int
    ids: tuple[int, ...]
    names: tuple[int, ...]
    lessons: Mapping[int, str] = field(default_factory=dict)
    only: int | None = None
    assigned: Mapping[int, str] = field(default_factory=dict)
    maxima: Mapping[int, Collection[str]] = field(default_factory=dict)
    excused: str = ""
    numbers: tuple[int, ...] = ()
    locked: frozenset[int] = frozenset()
    keep: tuple[int, ...] | None = None
    status: int | None = None
    notes: tuple[str, ...] = ()


class System:
    """A learning-management system.

    ``patterns``: the names that it gives to entries; what a learner may choose before the LMS's own words is matched lazily
    (``{1,80}?``). ``own_files``: the names of what it puts beside the entries of its download. ``dates_entries``: whether
    the times of entries in its zip are those of handing in. ``lasting_numbers``: whether its number of a learner is the same
    in every download; ``roster_number``: the form that the number has on the roster, such as ``{}``, if a table tells it.
    ``test_student``: its name of its own student for tests. ``export``: where to click for the table that it wants grades in;
    ``upload``: where to click to hand back a zip of pages; empty if it takes none. ``upload_remark``: what else a person has to
    know of that. ``address``: a description of what stands behind the colon of ``collect --fetch NAME:ADDRESS``; empty if it
    fetches nothing.
    """

    name = ""
    patterns: tuple[re.Pattern[str], ...] = ()
    own_files: re.Pattern[str] = re.compile("(?!)")
    dates_entries = False
    lasting_numbers = False
    roster_number = ""
    test_student = ""
    export = ""
    upload = ""
    upload_remark = ""
    address = ""

    @property
    def option(self) -> str:
        """The name of the system on the command line."""
        return "-".join(self.name.casefold().split())

    def on_roster(self, number: str) -> str:
        """A number of this LMS as the roster writes it; empty if the roster holds none."""
        if not self.roster_number or not number.isdecimal():
            return ""
        return self.roster_number.format(int(number))

    def read(self, part: str) -> LmsEntry | None:
        """What the name of a file, folder or archive says; None if this LMS has not given it."""
        for pattern in self.patterns:
            if (first := pattern.fullmatch(part)) and (entry := self.entry(first)):
                last = _greedy(pattern).fullmatch(part)
                if last and last.groups() == first.groups():
                    return entry
                why = f"{self.name} may have put {entry.name!r} there, or another part of it: who wrote the rest?"
                return replace(entry, unsure=why)
        return None

    def entry(self, found: re.Match[str]) -> LmsEntry | None:
        """What a name says that one of the patterns fits; None if this LMS has not given it after all."""
        return None

    def fetch(self, address: str) -> Iterable[Fetched]:
        """Fetch all that was handed in at ``address``. Raises CourseError, which says what a person can do."""
        return ()

    def grade_table(self, sheet: Sheet) -> GradeTable | None:
        """What the columns of an export of its gradebook hold; None if the table is no such export."""
        return None

    def feedback_start(self, entry: LmsEntry) -> str:
        """The text that a page's name must begin with to go back to the learner of this entry; empty if it cannot go back."""
        return ""


@cache
def _greedy(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """The same pattern, but it splits a name at the last place, not the first, and however long what stands before is."""
    bounded = re.sub(r"\{(\d+),\d+\}\?", r"{\1,}", pattern.pattern)
    return re.compile(re.sub(r"(?<!\\)([+*])\?", r"\1", bounded), pattern.flags)


def systems() -> dict[str, System]:
    """Every system that a module in ``systems/`` or an installed package describes, by name. Raises UsageError if a package's
    system cannot be loaded."""
    for trouble in _found()[1]:
        raise trouble
    return offered()


def offered() -> dict[str, System]:
    """As :func:`systems`, without those that cannot be loaded: a command that needs none of them works all the same."""
    return _found()[0]


@cache
def _found() -> tuple[dict[str, System], list[UsageError]]:
    """The systems by name, and what is wrong with those that cannot be loaded. Each of these is told once, on stderr."""
    package = import_module("nbproof_lms.systems")
    modules = (import_module(f"{package.__name__}.{found.name}") for found in iter_modules(package.__path__))
    own = {module.SYSTEM.name: module.SYSTEM for module in modules}
    place = f"entry points {SYSTEMS.group}"
    others, troubles = dict[str, System](), list[UsageError]()
    for name in sorted(SYSTEMS.installed()):
        try:
            one = SYSTEMS.load(name, place, fits=lambda it: isinstance(it, System) and bool(it.name))
        except UsageError as trouble:
            print(f"! {trouble.fact}", file=sys.stderr)
            troubles.append(trouble)
        else:
            others[one.name] = one
    return {**others, **own}, troubles


def find_system(option: str) -> System:
    """The system with this name on the command line."""
    return next(system for system in offered().values() if system.option == option)


def fetch(source: str) -> tuple[System, list[Fetched]]:
    """The system that ``NAME:ADDRESS`` names, and what it has fetched from there.

    Raises UsageError if there is no such system, or if it could not fetch.
    """
    name, _, address = source.partition(":")
    able = {one.option: one for one in systems().values() if one.address}
    if name not in able:
        raise SYSTEMS.unknown(name, "--fetch", able)
    if not address:
        raise UsageError(
            f"{name} needs an address: {able[name].address}",
            "--fetch",
            course_command(f"collect --fetch {name}:ADDRESS"),
        )
    try:
        fetched = list(able[name].fetch(address))
        for one in fetched:
            if one.when is not None and one.when.tzinfo is None:
                raise ValueError(f"the time of {one.who} has no zone")
        return able[name], fetched
    except CourseError:
        raise
    except Exception as error:
        fact = f"{name} could not fetch what was handed in: {type(error).__name__}: {error}"
        raise UsageError(fact, address, "mend that, then run the same command again; nothing was changed") from error
