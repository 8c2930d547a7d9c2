"""``python -m course check``: what is looked at for the names that were given, what was found, and what was left out."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbproof.authoring.budget import over_budget
from nbproof.authoring.contract import Record, check_contract, select
from nbproof.authoring.demands import demands_of, unbroken
from nbproof.authoring.hinting import check_hints, check_share
from nbproof.authoring.lesson import Candidate, Exercise, Lesson, read_lessons, refuse_abandoned
from nbproof.authoring.release import check_release
from nbproof.authoring.trial import Way
from nbproof.command import course_command
from nbproof.course_file import the_course
from nbproof.errors import UsageError, Violation
from nbproof.nbgrader_setup import course_config
from nbproof.text import counted

__all__ = ["Alike", "Checkup", "check_up", "redundant"]


@dataclass(frozen=True)
class Checkup:
    """What a run of the author contract found."""

    records: tuple[Record, ...]
    others: tuple[Violation, ...]
    """What is broken beyond single exercises: in lessons as a whole, and in the course."""
    looked_at: str
    left_out: tuple[str, ...]
    """What was not looked at, a line each; empty if nothing was left out."""
    seconds: float

    @property
    def violations(self) -> list[Violation]:
        """All of them."""
        return [*(violation for record in self.records for violation in record.violations), *self.others]

    @property
    def broken_lessons(self) -> frozenset[str]:
        """The slugs of lessons that are broken beyond single exercises."""
        return frozenset(violation.lesson for violation in self.others if violation.lesson)


def check_up(
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
    refuse_abandoned(root)
    every = read_lessons(root)
    pairs = select(root, names, every)
    chosen = {*names, *(lesson.slug for lesson, _ in pairs)}
    lessons = [one for one in every if not names or one.slug in chosen]

    def looked_at(lesson: Lesson, record: Record) -> None:
        exercise = record.exercise
        if not exercise.plain:  # its asserts are what they are; what they ask is not the statement's
            record.demands = demands_of(lesson, exercise)
            record.violations += unbroken(lesson, exercise)
            record.violations += over_budget(lesson, exercise, the_course().budget_of(lesson.slug))
        told(record, len(pairs))

    records = check_contract(pairs, step, told=looked_at)
    others = check_release(root, lessons)
    for lesson in lessons:
        others += [replace(violation, lesson=lesson.slug) for violation in check_hints([lesson])]
    if not names:
        others += check_share(records)
    of = [len(record.exercise.candidates) for record in records]
    what = (
        f"{counted(len(records), 'exercise')} with {sum(of)} candidates; prose, hints and derived notebooks of "
        + ", ".join(lesson.slug for lesson in lessons)
    )
    left = _left_out(every, lessons, records) if names else ()
    return Checkup(tuple(records), tuple(others), what, left, time.perf_counter() - start)


def answers_called(root: Path, names: Sequence[str], name: str) -> list[tuple[Exercise, Candidate]]:
    """The answers of this name to the exercises that are named, or of the lessons. Raises UsageError if there is none."""
    answers = [(exercise, one) for _, exercise in select(root, names) for one in exercise.candidates]
    found = [(exercise, one) for exercise, one in answers if one.name == name]
    if not found:
        raise UsageError(
            f"no answer is called {name!r}",
            " ".join(names) or "all lessons",
            "a name that stands behind '# %%' in right.py or wrong.py",
        )
    return found


def _left_out(every: Sequence[Lesson], lessons: Sequence[Lesson], records: Sequence[Record]) -> tuple[str, ...]:
    found = []
    seen = {record.exercise.id for record in records}
    for lesson in lessons:
        rest = [exercise.id for exercise in lesson.exercises if exercise.id not in seen]
        if rest:
            found.append(
                f"the candidates of {counted(len(rest), 'other exercise')} of {lesson.slug}: "
                + course_command(f"check {lesson.slug}")
            )
    rest = [lesson.slug for lesson in every if lesson not in lessons]
    if rest:
        found.append(f"{counted(len(rest), 'other lesson')}: {', '.join(rest)}")
    found.append(
        f"what concerns the course as a whole, such as the share of mutants with a hint: {course_command('check')}"
    )
    return tuple(found)


@dataclass(frozen=True)
class Alike:
    """Mutants of one exercise that nothing tells apart."""

    exercise: Exercise
    mutants: tuple[Candidate, ...]
    checks: tuple[str, ...]
    """The checks that all of them fail."""


def redundant(records: Sequence[Record]) -> Iterator[Alike]:
    """Which mutants say the same thing twice: the same hint, by just the same checks, for just the same evidence.

    In the order of the lessons. The author knows whether two stand for different slips: nothing is taken away.
    """
    for record in records:
        groups: dict[tuple[str | None, Way], list[Candidate]] = defaultdict(list)
        for mutant in record.exercise.mutants:
            if mutant.name in record.ways:
                groups[mutant.hint, record.ways[mutant.name]].append(mutant)
        for (_, way), mutants in groups.items():
            if len(mutants) > 1:
                checks = dict.fromkeys(found[2] for found in way[:-1])
                yield Alike(record.exercise, tuple(mutants), tuple(checks))
