"""Read a lesson from nbgrader's notebooks, as they lie in ``source/`` and ``release/``.

A build writes them, or somebody in JupyterLab. What nbgrader's metadata of a cell says is known here and nowhere else. The
heading above a TODO cell is read as a build writes it. What a test cell hides stands between nbgrader's marks, and is cut off
here. Learners have this module: it imports nothing that is slow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbproof.cells import BEGIN_HIDDEN, CellKind, exercise_of, visible_and_hidden
from nbproof.course_file import Course
from nbproof.grouping import grouped
from nbproof.handed_out import HIDDEN, key_of
from nbproof.lesson import heading
from nbproof.lesson.check_cell import two_lines
from nbproof.lesson.lesson import Cell, Exercise, Lesson, Question, TestCell

__all__ = [
    "cell_called",
    "cell_of",
    "cells_of",
    "grading_of",
    "kind_of",
    "lesson_of",
    "marked",
    "name_of",
    "read_cells",
    "read_lesson_notebook",
    "read_notebook",
    "text_of",
    "with_checks",
]

Visible = Callable[[str, str], str | None]


def grading_of(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """nbgrader's metadata of a cell; empty if it has none, or none of any sense."""
    metadata = cell.get("metadata")
    grading = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    return grading if isinstance(grading, Mapping) else {}


def marked(grade_id: str, **marks: Any) -> dict[str, Any]:
    """The metadata of a cell with this id, as nbgrader writes it."""
    usual = {
        "grade": False,
        "grade_id": grade_id,
        "locked": False,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    return {"nbgrader": dict(sorted({**usual, **marks}.items()))}


def name_of(cell: Mapping[str, Any]) -> str:
    """A cell's grade_id; empty if it has none."""
    name = grading_of(cell).get("grade_id")
    return name if isinstance(name, str) else ""


def text_of(cell: Mapping[str, Any]) -> str:
    """A cell's text, which notebooks on the disk have in lines; empty if it has none, or none of any sense."""
    source = cell.get("source")
    if isinstance(source, list):
        source = "".join([part for part in source if isinstance(part, str)])
    return source if isinstance(source, str) else ""


def kind_of(cell: Mapping[str, Any]) -> CellKind:
    """What a cell of a notebook in nbgrader's format is. nbgrader refuses text that is graded and no solution, or the reverse."""
    grading, code = grading_of(cell), cell.get("cell_type") == "code"
    graded = bool(grading.get("grade"))
    kind = CellKind.SHOW if code else CellKind.PROSE
    if not name_of(cell):
        return kind
    if grading.get("solution"):
        of_code = CellKind.MANUAL if graded else CellKind.ANSWER
        return of_code if code else CellKind.WRITTEN
    if grading.get("task") or (graded and not code):
        return CellKind.TASK
    if graded:
        return CellKind.TEST
    return CellKind.SETUP if grading.get("locked") and code else kind


def read_notebook(data: bytes | str) -> dict[str, Any]:
    """A notebook as nbformat has it, each cell's text in one piece. Raises ValueError, TypeError or KeyError if it is none."""
    notebook: dict[str, Any] = json.loads(data)
    for cell in notebook["cells"]:
        cell["source"] = text_of(cell)
    return notebook


def cells_of(data: bytes | str) -> tuple[Cell, ...]:
    """The cells of a notebook. Raises ValueError, TypeError, KeyError or AttributeError if it is none."""
    return tuple(map(cell_of, read_notebook(data)["cells"]))


def read_cells(path: Path) -> tuple[Cell, ...]:
    """The cells of a notebook; none if it is not there or cannot be read."""
    try:
        return cells_of(path.read_bytes())
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return ()


def cell_called(path: Path, grade_id: str) -> Cell:
    """The cell with this id; an empty one if the notebook, or the cell, is not there."""
    found = (cell for cell in read_cells(path) if cell.grade_id == grade_id)
    return next(found, Cell(CellKind.PROSE, ""))


def cell_of(raw: Mapping[str, Any]) -> Cell:
    """One cell, as nbformat has it."""
    kind, grading, source = kind_of(raw), grading_of(raw), text_of(raw)
    points = grading.get("points") if grading.get("grade") or kind is CellKind.TASK else 0
    points = float(points) if isinstance(points, (int, float)) else 0.0
    about = (kind, source, "", name_of(raw), points, (), str(raw.get("id", "")))
    if kind in (CellKind.WRITTEN, CellKind.MANUAL, CellKind.TASK):
        return Question(*about)
    if kind is not CellKind.TEST:
        return Cell(*about)
    shown, hidden = visible_and_hidden(source)
    return TestCell(*about, shown=shown, hidden=hidden)


def _called(course: Course, cell: Cell, visible: Visible) -> Cell:
    """A test cell of two lines with these, and with the visible checks in their place; any other cell as it is."""
    call = two_lines(course).search(cell.source)
    if not isinstance(cell, TestCell) or call is None:
        return cell
    shown, hidden = visible_and_hidden(with_checks(course, cell.source, visible))
    return replace(cell, shown=shown, hidden=hidden, call=call[0])


def with_checks(course: Course, source: str, visible: Visible) -> str:
    """The text of a test cell with the visible checks in place of its two lines; any other text as it is.

    ``visible``: the text of the checks of an exercise, or of one part of it; None if there are none.
    """
    call = two_lines(course).search(source)
    text = visible(call["id"], call["part"] or "") if call is not None else None
    if call is None or text is None:
        return source
    before, begin, hidden = f"{source[: call.start()]}{text}{source[call.end() :]}".partition(f"{BEGIN_HIDDEN}\n")
    # What fetches the names of the visible text is not needed here: a second class of the same name is another class.
    return before + begin + (hidden.partition(f"{HIDDEN}\n")[2] or hidden)


def read_lesson_notebook(course: Course, path: Path, checks: Mapping[str, str]) -> Lesson:
    """The lesson in a notebook that a build has made. Raises OSError, and ValueError and its like if there is none.

    ``checks``: key -> text of the checks that learners have, for test cells of two lines.
    """
    cells = cells_of(path.read_bytes())
    answers = [cell.grade_id for cell in cells if cell.kind is CellKind.ANSWER]
    called = (_called(course, cell, lambda exercise, part: checks.get(key_of(exercise, part))) for cell in cells)
    return lesson_of(
        course, path, [replace(cell, exercise=exercise_of(cell.grade_id, answers)) for cell in called], path.stem
    )


def lesson_of(course: Course, path: Path, cells: Sequence[Cell], slug: str) -> Lesson:
    """The lesson that these cells of a notebook are, each test cell with what it tests."""
    prose = "\n\n".join(cell.source for cell in cells if cell.kind is CellKind.PROSE)
    tests = grouped((cell.exercise, cell) for cell in cells if isinstance(cell, TestCell))
    headings = heading.built(prose)
    exercises = [
        Exercise(course, one.grade_id, slug, one, tuple(tests[one.grade_id]), (), (), *headings.get(one.grade_id, ()))
        for one in cells
        if one.kind is CellKind.ANSWER
    ]
    return Lesson(course, slug, path, tuple(cells), tuple(exercises), heading.lesson_title(prose))
