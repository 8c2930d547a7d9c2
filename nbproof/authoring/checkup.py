"""``python -m course check``: what is looked at for the names that were given, and what was found.

Of exercises that is their contract; of lessons whether the derived notebooks are fresh and hold nothing that learners must not
see.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from nbproof.authoring.build import derive
from nbproof.authoring.contract import Record, check_contract, select
from nbproof.authoring.hinting import check_hints, refuse_bad_hints, unused_hints
from nbproof.authoring.statements import amiss
from nbproof.cells import private_lines
from nbproof.command import course_command, this_python
from nbproof.course_file import Course
from nbproof.errors import LessonError, UsageError
from nbproof.handed_out import CHECKS
from nbproof.lesson.exercise_folder import EXPLORE
from nbproof.lesson.from_notebook import read_notebook
from nbproof.lesson.from_text import read_lessons
from nbproof.lesson.lesson import FILES, Candidate, Exercise, Lesson
from nbproof.places import course_config
from nbproof.text import counted

if TYPE_CHECKING:
    from nbproof.authoring.explorer import Explored

__all__ = ["Checkup", "answers_called", "check_release", "check_up", "explored", "leaks"]


@dataclass(frozen=True)
class Checkup:
    """What a run of the author contract found."""

    records: tuple[Record, ...]
    others: tuple[LessonError, ...]
    """What is broken beyond single exercises: in lessons as a whole, and in the course."""
    looked_at: str
    seconds: float

    @property
    def violations(self) -> list[LessonError]:
        """All of them."""
        return [*chain.from_iterable(record.violations for record in self.records), *self.others]


def check_up(
    course: Course,
    root: Path,
    names: Sequence[str],
    step: Callable[[int, int, str], None],
    told: Callable[[Record, int], None] = lambda record, of: None,
) -> Checkup:
    """Check the exercises that are named, or those of the lessons that are named, and each of their lessons as a whole.

    ``step`` is told of progress, ``told`` of each exercise, of so many, as soon as it was looked at.
    Raises CourseError if there is nothing that could be checked.
    """
    start = time.perf_counter()
    course_config(root)  # raises before the work, and not after it
    every = read_lessons(course, root)
    pairs = select(course, root, names, every)
    chosen = {*names, *(lesson.slug for lesson, _ in pairs)}
    lessons = [one for one in every if not names or one.slug in chosen]

    records = check_contract(pairs, step, told=lambda record: told(record, len(pairs)))
    others = [*check_release(course, root, lessons), *chain.from_iterable(map(check_hints, lessons))]
    of = [len(record.exercise.candidates) for record in records]
    what = (
        f"{counted(len(records), 'exercise')} with {sum(of)} candidates; prose, hints and derived notebooks of "
        + ", ".join(lesson.slug for lesson in lessons)
    )
    return Checkup(tuple(records), tuple(others), what, time.perf_counter() - start)


def explored(
    course: Course, root: Path, names: Sequence[str], step: Callable[[int, int, str], None], how: tuple[float, int, int]
) -> Iterator[Explored]:
    """What the explorer finds on the exercises that are named, or on all; ``how``: minutes, draws and seed.

    Raises UsageError if what it draws with is not installed, or if none of them has an exploration.
    """
    if importlib.util.find_spec("hypothesis") is None:
        fact = "the explorer needs hypothesis, which is not installed"
        raise UsageError(fact, this_python(), f"{this_python()} -m pip install hypothesis")
    from nbproof.authoring.explorer import Search, explore

    pairs = select(course, root, names)
    if not any((lesson.path.parent / exercise.id / EXPLORE).is_file() for lesson, exercise in pairs):
        fact, place = "none of these exercises has an exploration", " ".join(names) or str(root / "lessons")
        raise UsageError(fact, place, f"write one, {EXPLORE} beside its {CHECKS}: docs/authors.md, 'Explorations'")
    return explore(course, pairs, Search(*how), step)


def answers_called(course: Course, root: Path, names: Sequence[str], name: str) -> list[tuple[Exercise, Candidate]]:
    """The answers of this name to the exercises that are named, or of the lessons. Raises UsageError if there is none."""
    found: list[tuple[Exercise, Candidate]] = []
    known: list[str] = []
    for _, exercise in select(course, root, names):
        known += [one.name for one in exercise.candidates]
        found += [(exercise, one) for one in exercise.candidates if one.name == name]
    if not found:
        near = get_close_matches(name, known, 8, 0) or known
        raise UsageError(
            f"no answer is called {name!r}",
            " ".join(names) or "all lessons",
            f"a name that stands behind '# %%' in right.py or wrong.py, such as: {', '.join(dict.fromkeys(near))}",
        )
    return found


def check_release(course: Course, root: Path, lessons: list[Lesson]) -> list[LessonError]:
    """What is wrong with the derived notebooks and the prose: stale, misleading, or holding what learners must not see."""
    refuse_bad_hints(course, root / "lessons")
    found: list[LessonError] = [*unused_hints(course, root / "lessons"), *_budgets_of_none(course, root)]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name).resolve()
        try:
            derive(root, lessons, scratch, lambda line: None)
        except LessonError as error:
            return [error]
        for lesson in lessons:
            found += [*_stale(root, lesson, scratch), *_extras(root, lesson)]
            release = root / "release" / lesson.slug / f"{lesson.slug}.ipynb"
            if release.exists():
                found += leaks(lesson, release)
            found += amiss(lesson)
    return found


def _budgets_of_none(course: Course, root: Path) -> Iterator[LessonError]:
    """Budgets in ``course.toml`` for lessons that are not there."""
    known = sorted(path.parent.name for path in (root / "lessons").glob("*/lesson.py"))
    for name, of_lesson in course.budget.items():
        if isinstance(of_lesson, dict) and name not in known:
            place = f"{course.file}: budget, {name}"
            yield LessonError("a budget for a lesson that is not there", place, f"choose from: {', '.join(known)}")


def _stale(root: Path, lesson: Lesson, scratch: Path) -> Iterator[LessonError]:
    for step in ("source", "release"):
        place = Path(step, lesson.slug, f"{lesson.slug}.ipynb")
        if not (root / place).exists():
            yield LessonError(f"{step}/{lesson.slug} is missing", str(root / place), course_command("build"))
        elif (root / place).read_bytes() != (scratch / place).read_bytes():
            yield LessonError(f"{step}/{lesson.slug} is outdated", str(root / place), course_command("build"))


def _extras(root: Path, lesson: Lesson) -> Iterator[LessonError]:
    beside = [path.name for path in lesson.files.iterdir()] if lesson.files else []
    for step in ("source", "release"):
        for extra in sorted((root / step / lesson.slug).glob("*")):
            if extra.name not in (f"{lesson.slug}.ipynb", ".ipynb_checkpoints", *beside):
                yield LessonError(
                    "learners would get this file as well: nbgrader hands out the whole folder",
                    str(extra),
                    f"move it out of {step}/, or, if they should, to {lesson.path.parent / FILES}",
                )


def leaks(lesson: Lesson, release: Path) -> Iterator[LessonError]:
    """What a released notebook shows of the lesson's solutions and hidden tests, and what else it should not carry."""
    cells = read_notebook(release.read_bytes())["cells"]
    place, again = str(release), f"{course_command('build')}, then {course_command(f'check {lesson.slug}')}"
    regions = [private_lines(cell.source) for cell in lesson.cells]
    # A line such as "return output" may stand in a solution and in plain sight as well.
    private = set().union(*(hidden for _, hidden in regions)).difference(*(public for public, _ in regions))
    for cell in cells:
        if cell.get("outputs"):
            yield LessonError("the release carries an output", place, again)
        for line in map(str.strip, cell["source"].splitlines()):
            if len(line) > 3 and line in private:
                yield LessonError(f"the release shows a private line: {line[:80]}", place, again)
