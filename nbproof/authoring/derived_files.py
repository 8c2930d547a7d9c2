"""Derive what learners have beside the course: ``outline.json``, which help and progress know of the lessons, ``checks.json``,
the checks that check cells stand for, and ``hints.json``.

A check cell of the lesson has the whole text of its checks. In the notebook it has two lines, and below them, between
nbgrader's marks, what is hidden, with what that needs of the visible part: nbgrader takes it out for the release.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbproof.authoring.hint_texts import derived_hints
from nbproof.authoring.lesson import Cell, Exercise, Lesson
from nbproof.authoring.stated import heading_of
from nbproof.cells import CellKind
from nbproof.checks.test_cell_names import CHECK_LINE
from nbproof.checks.test_cells import needed_by
from nbproof.checks.visible import HIDDEN, NAME
from nbproof.course_file import the_course
from nbproof.display.outline import fingerprint
from nbproof.regions import BEGIN_HIDDEN, END_HIDDEN, stub_of, visible_of

__all__ = ["OUTLINE", "checks_in", "derived_files", "in_the_notebook", "outline_of", "read_outline"]

OUTLINE = "outline.json"


def derived_files(root: Path, lessons: Sequence[Lesson], slugs: Sequence[str]) -> dict[Path, str]:
    """Path -> text of the three files, for ``course.toml``'s folder as ``root`` has it; ``slugs`` are all lessons there are.

    Of lessons that are not among ``lessons`` they keep what stands there already. Raises HintError.
    """
    texts = {
        OUTLINE: _updated(root, OUTLINE, slugs, {lesson.slug: outline_of(lesson) for lesson in lessons}),
        NAME: _updated(root, NAME, slugs, {lesson.slug: _checks_of(lesson) for lesson in lessons}),
        "hints.json": derived_hints(root),
    }
    return {_place(root, name): text for name, text in texts.items()}


def _place(root: Path, name: str) -> Path:
    """In a folder that only holds lessons, there."""
    return (the_course().derived_in(root) or root) / name


def _known(root: Path, name: str) -> dict[str, Any]:
    try:
        return dict(json.loads(_place(root, name).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _updated(root: Path, name: str, slugs: Sequence[str], fresh: Mapping[str, Any]) -> str:
    kept = {slug: part for slug, part in _known(root, name).items() if slug in slugs}
    return json.dumps({**kept, **fresh}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def read_outline(root: Path) -> dict[str, Any]:
    """The outline as it is written down; empty if it is missing or damaged."""
    return _known(root, OUTLINE)


def outline_of(lesson: Lesson) -> dict[str, Any]:
    """One lesson's part of the outline, as JSON-able data."""
    opening = lesson.cells[0].source
    title = next((line[2:].strip() for line in opening.splitlines() if line.startswith("# ")), lesson.slug)
    return {"title": title, "exercises": [_outlined(lesson, exercise) for exercise in lesson.exercises]}


def _outlined(lesson: Lesson, exercise: Exercise) -> dict[str, Any]:
    heading = heading_of(lesson, exercise)
    visible = [checks_in(visible_of(cell.source)) for cell in exercise.tests]
    return {
        "id": exercise.id,
        "title": heading.title.replace("`", "") if heading else exercise.id.replace("_", " "),
        "difficulty": heading.difficulty if heading else "",
        "minutes": heading.minutes if heading else 0,
        "points": exercise.points,
        "cells": visible,
        "hidden": [
            len(checks_in(cell.source)) - len(shown) for cell, shown in zip(exercise.tests, visible, strict=True)
        ],
        "stub": fingerprint(stub_of(exercise.answer.source)),
    }


def checks_in(source: str) -> list[str]:
    """The classes that the text of a test cell hands to ``check``."""
    return [
        argument.id
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check"
        for argument in node.args[1:]
        if isinstance(argument, ast.Name)
    ]


def _checks_of(lesson: Lesson) -> dict[str, str]:
    """Key -> text of the checks that learners have."""
    cells = (cell for cell in lesson.cells if cell.kind is CellKind.TEST and cell.call)
    return {cell.checks: visible_of(cell.source).removeprefix(CHECK_LINE).strip("\n") for cell in cells}


def in_the_notebook(cell: Cell) -> str:
    """The text of a check cell in the instructor's notebook."""
    if not cell.call:
        return cell.source
    visible, _, hidden = cell.source.partition(BEGIN_HIDDEN)
    lines = [CHECK_LINE, *cell.call.split("\n")]
    if hidden:
        hidden = hidden.partition(END_HIDDEN)[0].strip("\n")
        brought = needed_by(ast.parse(hidden), visible)
        lines += ["", BEGIN_HIDDEN, *([*brought, ""] if brought else []), HIDDEN, *hidden.split("\n"), END_HIDDEN]
    return "\n".join(lines)
