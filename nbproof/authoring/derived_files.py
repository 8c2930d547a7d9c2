"""Derived files: notebooks, and what learners have beside the course; the same lesson always gives the same bytes.

``outline.json`` is what help and progress know of the lessons, ``checks.json`` the checks that check cells stand for.

In the notebook a check cell has two lines, and below them, between nbgrader's marks, what is hidden, with what that needs of
the visible part: nbgrader takes it out for the release.

If a lesson is gone, or was renamed, a build names what is left of it. It takes nothing away.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat

from nbproof.authoring.headings import heading_of, minutes_of
from nbproof.authoring.hint_texts import derived_hints
from nbproof.authoring.lesson import Cell, Exercise, Lesson
from nbproof.cells import BEGIN_HIDDEN, END_HIDDEN, stub_of
from nbproof.checks.check_cells import CHECK_LINE, needed_by
from nbproof.checks.visible import HIDDEN, NAME
from nbproof.course_file import the_course
from nbproof.display.outline import fingerprint
from nbproof.errors import Violation

__all__ = [
    "LIMITS",
    "METADATA",
    "OUTLINE",
    "as_text",
    "cell_id",
    "checks_in",
    "derived_files",
    "how_to_install",
    "in_the_notebook",
    "orphans",
    "outline_of",
    "read_outline",
    "write_where_it_differs",
]


LIMITS = "<!-- grading limits -->"
"""In a lesson's prose: stands for the sentence that nbgrader_config.py's limits make."""

METADATA: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""Of every derived notebook."""


def how_to_install() -> str:
    """The first code cell of a notebook: silent if the course is installed, else it says what to do there."""
    course = the_course()
    wheel = f"{course.name.replace('-', '_')}*.whl"
    said = ["The course is not installed here yet."]
    if not course.wheel:
        said[0] += f" Put the file {wheel} beside this notebook"
        said.append("(in Colab: into the folder on the left).")
    said += [
        "Run the next line in a new cell, then this notebook from its top:",
        f"    %pip install -q {course.wheel or wheel}",
    ]
    lines = [
        "try:",
        f"    import {course.package}",
        "except ModuleNotFoundError:",
        *(f'    print("{one}")' for one in said),
    ]
    return "\n".join(lines)


def cell_id(grade_id: str, source: str, seen: set[str]) -> str:
    """An id that stays the same when cells around it come and go: the grade_id, or a hash of the text."""
    base = grade_id.replace("_", "-") or hashlib.sha256(source.encode()).hexdigest()[:12]
    name, count = base[:60], 1
    while name in seen:
        count += 1
        name = f"{base[:57]}-{count}"
    seen.add(name)
    return name


def as_text(notebook: nbformat.NotebookNode) -> str:
    """The notebook as the text of its file."""
    text: str = nbformat.writes(notebook, sort_keys=True, indent=1, ensure_ascii=False)
    return text if text.endswith("\n") else text + "\n"


def write_where_it_differs(text: str, path: Path) -> bool:
    """Write the text if the file has other bytes; returns whether it had."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return True


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
    core, further = minutes_of(lesson)
    exercises = [_outlined(lesson, exercise) for exercise in lesson.exercises]
    return {"title": title, "minutes": [core, further], "exercises": exercises}


def _outlined(lesson: Lesson, exercise: Exercise) -> dict[str, Any]:
    heading = heading_of(lesson, exercise)
    visible = [checks_in(cell.visible) for cell in exercise.tests]
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
    return {cell.checks: cell.visible.strip("\n") for cell in lesson.cells if cell.checks}


def in_the_notebook(cell: Cell) -> str:
    """The text of a check cell in the instructor's notebook."""
    if not cell.call:
        return cell.source
    lines = [CHECK_LINE, cell.call]
    if cell.hidden:
        brought = needed_by(cell.hidden, cell.visible)
        if brought:
            brought.append("")
        lines += ["", BEGIN_HIDDEN, *brought, HIDDEN, cell.hidden.strip("\n"), END_HIDDEN]
    return "\n".join(lines)


def orphans(root: Path) -> list[Violation]:
    """The folders in release/ and source/ whose lesson is gone, or was renamed: a person says whether they go."""
    folders = [folder for step in ("release", "source") for folder in sorted((root / step).glob("[!.]*"))]
    return [
        Violation(
            f"{folder.parent.name}/{folder.name} is made from no lesson",
            str(folder),
            f"if nobody needs it: git rm -r {folder}",
        )
        for folder in folders
        if not (root / "lessons" / folder.name / "lesson.py").exists()
    ]
