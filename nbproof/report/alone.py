"""The class where nbproof-lms is not installed: those in the gradebook and in ``submitted/``. Nothing came by an upload.

Each name here is one of nbproof_lms, takes the same and gives the same; ``nbproof/nbgrader/next_door.py`` chooses.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from nbproof.command import Option, not_installed, option
from nbproof.errors import CourseError, UsageError
from nbproof.gradebook.marks import ClassResults, Mark, Person
from nbproof.gradebook.reader import opened_gradebook, people_in
from nbproof.key import Key
from nbproof.places import places
from nbproof.report.attendance import Attendance, NothingGradable, missing_in
from nbproof.report.records import ClassBackground, everybody
from nbproof.report.statistics import missing_lines
from nbproof.text import printable

if TYPE_CHECKING:
    from rich.console import Console

    from nbproof.course_file import Course

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


def print_collected(collected: Any, root: Path, console: Console | None = None) -> None:
    """Nothing was collected."""


def hand_back_pages(request: Namespace) -> NoReturn:
    """Raises UsageError, which names the package that hands back."""
    raise not_installed("what packs pages for an LMS", PACKAGE)


def is_class_known(root: Path) -> bool:
    """There is no roster."""
    return False


def members_of(root: Path) -> tuple[()]:
    """There is no roster."""
    return ()


def name_in_gradebook(root: Path) -> None:
    """There is no roster."""


def finish_broken_off(root: Path) -> tuple[str, ...]:
    """No upload was cut off."""
    return ()


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


def background_of(course: Course, root: Path) -> ClassBackground:
    """Nothing is known beside the gradebook and what was handed in."""
    return ClassBackground()


def late_by_lms(root: Path) -> frozenset[Key]:
    """No LMS has called anything late."""
    return frozenset()


def nothing_gradable_in(root: Path, handed_in: Collection[Key]) -> tuple[NothingGradable, ...]:
    """What cannot be graded lies in ``submitted/``, and is told there."""
    return ()


def lines_of(attendance: Attendance, root: Path) -> list[str]:
    """Lines for a terminal on learners who handed in nothing, and on marks for what is gone."""
    return [*map(printable, (*missing_lines(attendance.missing, attendance.contact), *attendance.withdrawn))]


def astray_lines(files: Sequence[str], root: Path) -> list[str]:
    """No file is without its place."""
    return []


def two_ids_lines(people: Iterable[Person], marks: Iterable[Mark], root: Path) -> list[str]:
    """Each person has one id."""
    return []


def zeros_apart(people: Iterable[Person]) -> list[tuple[Person, Person]]:
    """Each person has one id."""
    return []


def zeros_lines(people: Iterable[Person]) -> list[str]:
    """Each person has one id."""
    return []


def but_settled(root: Path, keys: Iterable[Key], found: Attendance) -> tuple[Attendance, dict[Key, bool]]:
    """The class as it is: nobody has settled anything."""
    return found, {}


def seen_in(root: Path, keys: Iterable[Key], others: Iterable[NothingGradable]) -> dict[Key, bool]:
    """Nobody has settled anything."""
    return {}


def forget_others(root: Path, keys: Iterable[Key]) -> None:
    """Nobody has settled anything."""


def without_place(root: Path, told: Iterable[NothingGradable]) -> tuple[str, ...]:
    """No file is without its place."""
    return ()


def copies_in_time(course: Course, root: Path, scores: Iterable[Mark]) -> Iterator[tuple[str, Key]]:
    """No earlier copy is kept."""
    return iter(())


def exports_of(request: Namespace) -> dict[str, Path]:
    """No LMS is known that would have one. Raises UsageError if the call says something of them."""
    if request.column or request.zero:
        raise not_installed("what fills grade files", PACKAGE)
    return {}


def options_of_exports() -> list[str]:
    """No LMS is known that would have one."""
    return []


def columns_of(said: Sequence[str]) -> dict[str, str]:
    """There are no grade files."""
    return {}


def zeros(
    results: ClassResults, zero: Collection[str], seen: Mapping[Key, bool], came: Collection[Key] = ()
) -> tuple[dict[Key, Mark], list[str]]:
    """There are no grade files."""
    return {}, []


def grade_files(
    root: Path,
    exports: Mapping[str, Path],
    results: ClassResults,
    chosen: Mapping[str, str],
    names: Sequence[str],
    given: Mapping[Key, Mark] = MappingProxyType({}),
) -> tuple[dict[str, Any], list[CourseError]]:
    """There are no grade files."""
    return {}, []


def known_elsewhere(option: str, made: Mapping[str, Any]) -> frozenset[str]:
    """There are no grade files."""
    return frozenset()
