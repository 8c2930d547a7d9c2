"""``python -m course check``: what is looked at for the names that were given, and what was found."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbproof.authoring.contract import Record, check_contract, select
from nbproof.authoring.hinting import check_hints
from nbproof.authoring.lesson import Candidate, Exercise, read_lessons
from nbproof.authoring.release import check_release
from nbproof.errors import UsageError, Violation
from nbproof.nbgrader_setup import course_config
from nbproof.text import counted

__all__ = ["Checkup", "answers_called", "check_up"]


@dataclass(frozen=True)
class Checkup:
    """What a run of the author contract found."""

    records: tuple[Record, ...]
    others: tuple[Violation, ...]
    """What is broken beyond single exercises: in lessons as a whole, and in the course."""
    looked_at: str
    seconds: float

    @property
    def violations(self) -> list[Violation]:
        """All of them."""
        return [*(violation for record in self.records for violation in record.violations), *self.others]


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
    every = read_lessons(root)
    pairs = select(root, names, every)
    chosen = {*names, *(lesson.slug for lesson, _ in pairs)}
    lessons = [one for one in every if not names or one.slug in chosen]

    records = check_contract(pairs, step, told=lambda record: told(record, len(pairs)))
    others = check_release(root, lessons)
    for lesson in lessons:
        others += check_hints([lesson])
    of = [len(record.exercise.candidates) for record in records]
    what = (
        f"{counted(len(records), 'exercise')} with {sum(of)} candidates; prose, hints and derived notebooks of "
        + ", ".join(lesson.slug for lesson in lessons)
    )
    return Checkup(tuple(records), tuple(others), what, time.perf_counter() - start)


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
