"""The outline of the course, its lessons and exercises, for help and progress.

In a clone it is read from the instructor's notebooks; learners, who do not get these, have it in a file.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nbproof.cells import CellKind, exercise_of, grading_of, kind_of, name_of, stub_of, text_of, visible_and_hidden
from nbproof.course_file import the_course
from nbproof.grouping import grouped
from nbproof.handed_out import OUTLINE, checks_files, key_of, visible_in

__all__ = [
    "OutlinedExercise",
    "OutlinedLesson",
    "checks_in",
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


def outline() -> tuple[OutlinedLesson, ...]:
    """All lessons in order; empty if there is no outline here, or if another version of the course has made the file."""
    course = the_course()
    if course.handed_out.is_dir():
        return _read(course.handed_out / OUTLINE)
    return _derived(course.beside("source"), course.texts)


@cache
def _read(path: Path) -> tuple[OutlinedLesson, ...]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return tuple(_lesson_from(slug, lesson) for slug, lesson in sorted(data.items()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def _lesson_from(slug: str, data: dict[str, Any]) -> OutlinedLesson:
    return OutlinedLesson(slug, data["title"], tuple(map(_exercise_from, data["exercises"])))


def _exercise_from(data: dict[str, Any]) -> OutlinedExercise:
    tuples = {"cells": tuple(map(tuple, data["cells"])), "hidden": tuple(data["hidden"])}
    return OutlinedExercise(**{**data, **tuples})


_HEADING = re.compile(
    r"^### Exercise: (?P<title>.+)\n+(?:easy|medium|hard) · (?P<minutes>\d+) min · .*`(?P<id>\w+)`$",
    re.MULTILINE,
)
"""An exercise's heading, as a build writes it (nbproof/authoring/statements.py)."""


def outline_of(source: Path, texts: Path) -> tuple[OutlinedLesson, ...]:
    """The outline of the instructor's notebooks in ``source``, with the checks in ``texts`` that their check cells call."""
    checks: dict[str, str] = {}
    for exercise, path in checks_files(texts).items():
        checks |= visible_in(exercise, path)
    return tuple(
        _lesson_of(path.stem, json.loads(path.read_text(encoding="utf-8"))["cells"], checks)
        for path in sorted(source.glob("*/*.ipynb"))
        if path.stem == path.parent.name
    )


_derived = cache(outline_of)


def _lesson_of(slug: str, cells: Sequence[Mapping[str, Any]], checks: Mapping[str, str]) -> OutlinedLesson:
    prose = "\n\n".join(text_of(cell) for cell in cells if kind_of(cell) is CellKind.PROSE)
    title = re.search(r"^# (.+)$", prose, re.MULTILINE)
    headings = {heading["id"]: heading for heading in _HEADING.finditer(prose)}
    answers = {name_of(cell): text_of(cell) for cell in cells if kind_of(cell) is CellKind.ANSWER}
    tests = grouped((exercise_of(name_of(cell), answers), cell) for cell in cells if kind_of(cell) is CellKind.TEST)
    exercises = [_exercise_of(name, headings.get(name), text, tests[name], checks) for name, text in answers.items()]
    shown = title[1].strip() if title else slug
    return OutlinedLesson(slug, shown, tuple(exercises))


def _exercise_of(
    name: str, heading: re.Match[str] | None, answer: str, tests: Sequence[Mapping[str, Any]], checks: Mapping[str, str]
) -> OutlinedExercise:
    about = heading.groupdict() if heading else {"title": name.replace("_", " "), "minutes": "0"}
    shown = []
    hidden = []
    for cell in tests:
        visible, withheld = visible_and_hidden(text_of(cell))
        part = name_of(cell).removeprefix(f"test_{name}").lstrip("_")
        shown.append(tuple(checks_in(checks.get(key_of(name, part), visible))))
        hidden.append(len(checks_in(withheld)))
    return OutlinedExercise(
        name,
        about["title"].strip().replace("`", ""),
        int(about["minutes"]),
        float(sum(grading_of(cell)["points"] for cell in tests)),
        tuple(shown),
        tuple(hidden),
        fingerprint(stub_of(answer)),
    )


_CALL = re.compile(r"^check\([^()]*\)", re.MULTILINE)


def checks_in(source: str) -> list[str]:
    """The names of the classes that the text of a test cell hands to ``check``."""
    names = []
    for text in _CALL.findall(source):
        call = ast.parse(text, mode="eval").body
        if isinstance(call, ast.Call):
            names += [argument.id for argument in call.args[1:] if isinstance(argument, ast.Name)]
    return names


def exercises_of(lessons: Iterable[OutlinedLesson]) -> Iterator[tuple[OutlinedLesson, OutlinedExercise]]:
    """Yield the exercises of these lessons in order, each with its lesson."""
    for lesson in lessons:
        for exercise in lesson.exercises:
            yield lesson, exercise


def exercise_named(name: str) -> OutlinedExercise | None:
    """The exercise with this id; None if there is none."""
    return next((exercise for _, exercise in exercises_of(outline()) if exercise.id == name), None)


def title_of(lesson: str) -> str:
    """The lesson's title; its name with spaces if the course does not know it."""
    return next((one.title for one in outline() if one.slug == lesson), "") or lesson.replace("_", " ")


def fingerprint(source: str) -> str:
    """A digest of a cell's text without spaces at line ends, to compare it with the text that was handed out."""
    lines = [line.rstrip() for line in source.strip().splitlines()]
    return hashlib.sha256("\n".join(lines).encode(errors="replace")).hexdigest()[:16]
