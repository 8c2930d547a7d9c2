"""Which lessons and exercises there are, for help and progress: a derived file, made by the command ``build``."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nbproof.course_file import the_course

__all__ = ["OutlinedExercise", "OutlinedLesson", "exercise_named", "fingerprint", "outline", "title_of"]


@dataclass(frozen=True)
class OutlinedExercise:
    """An exercise as a learner's overview needs it."""

    id: str
    title: str
    difficulty: str
    """'easy', 'medium' or 'hard'."""
    minutes: int
    points: float
    cells: tuple[tuple[str, ...], ...]
    """Of each test cell, the names of the checks that learners have."""
    hidden: tuple[int, ...]
    """Of each test cell, how many checks learners do not have."""
    stub: str
    """:func:`fingerprint` of the TODO cell as it is handed out."""

    def withheld(self, checks: tuple[str, ...]) -> int:
        """How many more a grader asks, of the test cell that has these visible checks."""
        return self.hidden[self.cells.index(checks)] if checks in self.cells else 0


@dataclass(frozen=True)
class OutlinedLesson:
    """A lesson and its exercises, in order."""

    slug: str
    title: str
    exercises: tuple[OutlinedExercise, ...]


def outline() -> tuple[OutlinedLesson, ...]:
    """All lessons in order; empty if the file is missing or was made by another version of the course."""
    return _read(the_course().folder / "outline.json")


@cache
def _read(path: Path) -> tuple[OutlinedLesson, ...]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return tuple(
            OutlinedLesson(
                slug,
                lesson["title"],
                tuple(
                    OutlinedExercise(
                        **{**one, "cells": tuple(map(tuple, one["cells"])), "hidden": tuple(one["hidden"])}
                    )
                    for one in lesson["exercises"]
                ),
            )
            for slug, lesson in sorted(data.items())
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def exercise_named(name: str) -> OutlinedExercise | None:
    """The exercise with this id; None if there is none."""
    return next((one for lesson in outline() for one in lesson.exercises if one.id == name), None)


def title_of(lesson: str) -> str:
    """The lesson's title; its name in words if the course does not know it."""
    return next((one.title for one in outline() if one.slug == lesson), "") or lesson.replace("_", " ")


def fingerprint(source: str) -> str:
    """Tells whether a cell's text is the one that was handed out, spaces at line ends aside."""
    lines = [line.rstrip() for line in source.strip().splitlines()]
    return hashlib.sha256("\n".join(lines).encode(errors="replace")).hexdigest()[:16]
