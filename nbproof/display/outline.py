"""The outline of the course, its lessons and exercises, for help and progress.

In a clone it is read from the instructor's notebooks; learners, who do not get these, have it in a file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nbproof.course_file import Course
from nbproof.grouping import merged
from nbproof.handed_out import OUTLINE, checks_files, visible_in
from nbproof.lesson.check_cell import checks_in
from nbproof.lesson.from_notebook import read_lesson_notebook
from nbproof.lesson.lesson import Exercise

__all__ = [
    "OutlinedExercise",
    "OutlinedLesson",
    "exercise_named",
    "exercises_of",
    "fingerprint",
    "outline",
    "outline_of",
    "title_of",
]


@dataclass(frozen=True)
class OutlinedExercise:
    """An exercise as a learner's overview needs it."""

    id: str
    title: str
    minutes: int
    points: float
    cells: tuple[tuple[str, ...], ...]
    """For each test cell the names of the checks that learners have."""
    hidden: tuple[int, ...]
    """For each test cell the number of checks that learners do not have."""
    stub: str
    """:func:`fingerprint` of the TODO cell as it is handed out."""

    def withheld(self, checks: tuple[str, ...]) -> int:
        """The number of hidden checks of the test cell that has these visible ``checks``; 0 if no test cell has them."""
        return self.hidden[self.cells.index(checks)] if checks in self.cells else 0


@dataclass(frozen=True)
class OutlinedLesson:
    """A lesson and its exercises, in order."""

    slug: str
    title: str
    exercises: tuple[OutlinedExercise, ...]


def outline(course: Course) -> tuple[OutlinedLesson, ...]:
    """All lessons in order; empty if there is no outline here, or if another version of the course has made the file."""
    if course.handed_out.is_dir():
        return _read(course.handed_out / OUTLINE)
    return _derived(course, course.beside("source"), course.texts)


@cache
def _read(path: Path) -> tuple[OutlinedLesson, ...]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return tuple(
            OutlinedLesson(slug, lesson["title"], tuple(map(_exercise_from, lesson["exercises"])))
            for slug, lesson in sorted(data.items())
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def _exercise_from(data: dict[str, Any]) -> OutlinedExercise:
    tuples = {"cells": tuple(map(tuple, data["cells"])), "hidden": tuple(data["hidden"])}
    return OutlinedExercise(**{**data, **tuples})


def outline_of(course: Course, source: Path, texts: Path) -> tuple[OutlinedLesson, ...]:
    """The outline of the instructor's notebooks in ``source``, with the checks in ``texts`` that their check cells call."""
    checks = merged(visible_in(exercise, path) for exercise, path in checks_files(texts).items())
    lessons = [
        read_lesson_notebook(course, path, checks)
        for path in sorted(source.glob("*/*.ipynb"))
        if path.stem == path.parent.name
    ]
    return tuple(
        OutlinedLesson(one.slug, one.title or one.slug, tuple(map(_outlined, one.exercises))) for one in lessons
    )


_derived = cache(outline_of)


def _outlined(exercise: Exercise) -> OutlinedExercise:
    return OutlinedExercise(
        exercise.id,
        exercise.title.strip().replace("`", "") or exercise.id.replace("_", " "),
        exercise.minutes,
        float(exercise.points),
        tuple(checks_in(test.shown) for test in exercise.tests),
        tuple(len(checks_in(test.hidden)) for test in exercise.tests),
        fingerprint(exercise.stub),
    )


def exercises_of(lessons: Iterable[OutlinedLesson]) -> Iterator[tuple[OutlinedLesson, OutlinedExercise]]:
    """Yield the exercises of these lessons in order, each with its lesson."""
    for lesson in lessons:
        for exercise in lesson.exercises:
            yield lesson, exercise


def exercise_named(course: Course, name: str) -> OutlinedExercise | None:
    """The exercise with this id; None if there is none."""
    return next((exercise for _, exercise in exercises_of(outline(course)) if exercise.id == name), None)


def title_of(course: Course, lesson: str) -> str:
    """The lesson's title; its name with spaces if the course does not know it."""
    return next((one.title for one in outline(course) if one.slug == lesson), "") or lesson.replace("_", " ")


def fingerprint(source: str) -> str:
    """A digest of a cell's text without spaces at line ends, to compare it with the text that was handed out."""
    lines = [line.rstrip() for line in source.strip().splitlines()]
    return hashlib.sha256("\n".join(lines).encode(errors="replace")).hexdigest()[:16]
