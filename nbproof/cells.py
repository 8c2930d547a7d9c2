"""What a cell of a notebook is, as nbgrader's metadata in it says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

__all__ = ["CellKind", "exercise_of", "grading_of", "kind_of", "name_of", "text_of"]


class CellKind(StrEnum):
    """What a cell is for."""

    PROSE = "prose"
    SHOW = "show"
    """Code that only shows something."""
    SETUP = "setup"
    """Read-only code: what answers and tests rely on."""
    ANSWER = "answer"
    """A TODO cell, whose test cells mark it."""
    MANUAL = "manual"
    """A TODO cell with points of its own: a person marks it."""
    TEST = "test"
    WRITTEN = "written"
    """Text that a learner writes and a person marks."""
    TASK = "task"
    """Text with points, which learners answer in cells of their own."""
    OWN = "own"
    """A cell that a learner has added: no metadata tells it."""


def grading_of(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """nbgrader's metadata of a cell; empty if it has none, or none of any sense."""
    metadata = cell.get("metadata")
    grading = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    return grading if isinstance(grading, Mapping) else {}


def name_of(cell: Mapping[str, Any]) -> str:
    """A cell's grade_id; empty if it has none."""
    name = grading_of(cell).get("grade_id")
    return name if isinstance(name, str) else ""


def text_of(cell: Mapping[str, Any]) -> str:
    """A cell's text, which notebooks on the disk have in lines; empty if it has none, or none of any sense."""
    source = cell.get("source")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def kind_of(cell: Mapping[str, Any]) -> CellKind:
    """What a cell of a notebook in nbgrader's format is. nbgrader refuses text that is graded and no solution, or the reverse."""
    grading, code = grading_of(cell), cell.get("cell_type") == "code"
    if name_of(cell):
        if grading.get("solution"):
            return CellKind.WRITTEN if not code else CellKind.MANUAL if grading.get("grade") else CellKind.ANSWER
        if grading.get("task") or (grading.get("grade") and not code):
            return CellKind.TASK
        if grading.get("grade"):
            return CellKind.TEST
        if grading.get("locked") and code:
            return CellKind.SETUP
    return CellKind.SHOW if code else CellKind.PROSE


def exercise_of(test: str, exercises: Iterable[str]) -> str:
    """The exercise that ``test_<id>`` or ``test_<id>_<part>`` tests: the longest id that fits; empty if none does."""
    fits = [name for name in exercises if test == f"test_{name}" or test.startswith(f"test_{name}_")]
    return max(fits, key=len, default="")
