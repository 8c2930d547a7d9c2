"""The class where nbproof-lms is not installed: those in the gradebook and in ``submitted/``. Nothing came by an upload.

Each name here is one of nbproof_lms, takes what that takes and gives the same; ``nbproof/nbgrader/next_door.py`` chooses.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, NoReturn

from nbproof.command import Option, not_installed, option
from nbproof.course_file import Course
from nbproof.errors import UsageError
from nbproof.gradebook.marks import Person
from nbproof.gradebook.reader import opened_gradebook, people_in
from nbproof.key import Key
from nbproof.places import places
from nbproof.report.attendance import Attendance, missing_in
from nbproof.report.records import ClassBackground, everybody
from nbproof.report.statistics import missing_lines
from nbproof.text import printable

PACKAGE = "nbproof-lms"


def _options(*names: str) -> tuple[Option, ...]:
    """Options that a call may name, to be told which package they come with."""
    return tuple(option(name, action="append", default=[], help=f"comes with {PACKAGE}") for name in names)


READING = _options("--lesson", "--names", "--learner", "--fetch")
EXPORTS = _options("--column", "--zero")
HANDING_BACK = (option("--for", dest="target", help=f"comes with {PACKAGE}"),)


def reading_of(arguments: Namespace) -> dict[str, Any]:
    """The options of :data:`READING` in a call."""
    return {name: getattr(arguments, name) for name in ("lesson", "names", "learner", "fetch")}


def collect(course: Course, root: Path, paths: Sequence[Path | str], **how: Any) -> NoReturn:
    """Raises UsageError, which names the package that collects."""
    raise not_installed("what sorts an upload into submitted/", PACKAGE)


def hand_back_pages(request: Namespace) -> NoReturn:
    """Raises UsageError, which names the package that hands back."""
    raise not_installed("what packs pages for an LMS", PACKAGE)


def people_of(root: Path) -> dict[str, Person]:
    """Everybody of the class: in the gradebook, with a folder in ``submitted/``. Raises CourseError."""
    with opened_gradebook(root) as book:
        known = people_in(book) if book is not None else []
    there = filter(str.isprintable, places(root).learners())
    return {one.id: one for one in everybody(lambda ids: (), known, there)}


def find_learners(root: Path, names: Sequence[str], place: str, *, by_id: bool = False) -> list[str]:
    """These learners, each once. Raises UsageError if one is no learner's id."""
    people = people_of(root)
    for name in names:
        if name not in people:
            raise UsageError(
                f"{name!r} is no learner's id",
                place,
                f"write the name of their folder in {places(root).base('submitted')}; {PACKAGE} knows other names, too",
            )
    return list(dict.fromkeys(names))


def attend(root: Path, people: Mapping[str, Person], handed_in: Collection[Key], lessons: Sequence[str]) -> Attendance:
    """Compare the class with what it handed in, as the function of nbproof_lms does."""
    return Attendance(missing_in(lessons, people, handed_in), people=people)


def lines_of(attendance: Attendance, root: Path) -> list[str]:
    """Lines for a terminal on learners who handed in nothing, and on marks for what is gone."""
    return [*map(printable, (*missing_lines(attendance.missing, attendance.contact), *attendance.withdrawn))]


def but_settled(root: Path, keys: Iterable[Key], found: Attendance) -> tuple[Attendance, dict[Key, bool]]:
    """The class as it is: nobody has settled anything."""
    return found, {}


def exports_of(request: Namespace) -> dict[str, Path]:
    """No LMS is known that would have one. Raises UsageError if the call says something of them."""
    if request.column or request.zero:
        raise not_installed("what fills grade files", PACKAGE)
    return {}


_NOTHING: Mapping[str, Callable[[], object]] = {
    "astray_lines": list,
    "background_of": ClassBackground,
    "columns_of": dict,
    "copies_in_time": lambda: iter(()),
    "finish_broken_off": tuple,
    "forget_others": NoneType,
    "grade_files": lambda: ({}, []),
    "is_class_known": bool,
    "known_elsewhere": frozenset,
    "late_by_lms": frozenset,
    "members_of": tuple,
    "name_in_gradebook": NoneType,
    "nothing_gradable_in": tuple,
    "options_of_exports": list,
    "print_collected": NoneType,
    "seen_in": dict,
    "two_ids_lines": list,
    "without_place": tuple,
    "zeros": lambda: ({}, []),
    "zeros_apart": list,
    "zeros_lines": list,
}
"""Name of a function -> what makes its answer, whatever it is asked: there is no roster, no LMS, no upload, and nothing is
settled."""


def __getattr__(name: str) -> Callable[..., object]:
    """The function that finds nothing, by its name. Raises AttributeError for another name."""
    if name not in _NOTHING:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return lambda *asked, **how: _NOTHING[name]()
