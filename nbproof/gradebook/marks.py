"""What the gradebook knows of submissions: marks that tests and people gave, comments, late penalties."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

__all__ = ["CellMark", "Marks", "read_marks"]


@dataclass(frozen=True)
class CellMark:
    """One graded cell of one submission."""

    name: str
    score: float
    max_score: float
    given: float | None
    """What a person gave; None where nobody has."""
    extra: float
    waits: bool
    """Whether a person is to mark it, and has not."""


@dataclass(frozen=True)
class Marks:
    """One submission."""

    max_score: float
    cells: Mapping[str, CellMark]
    comments: Mapping[str, str]
    """Cell -> what a person wrote about it."""
    penalty: float = 0.0
    seconds_late: float = 0.0
    handed_in: datetime | None = field(default=None)
    """In UTC."""

    @property
    def score(self) -> float:
        """Its marks, less the late penalty."""
        return max(0.0, sum(cell.score for cell in self.cells.values()) - self.penalty)


def read_marks(
    root: Path, lessons: Collection[str], learners: Collection[str] | None = None
) -> dict[tuple[str, str], Marks]:
    """(learner, lesson) -> marks, of these lessons and learners (None: all). Empty where there is no gradebook.

    Raises GradingError where it cannot be read.
    """
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI

    from nbproof.gradebook.storage_errors import trouble_with_gradebook
    from nbproof.nbgrader_setup import course_config

    coursedir = NbGraderAPI(config=course_config(root)).coursedir
    place = Path(coursedir.db_url.removeprefix("sqlite:///"))
    if coursedir.db_url.startswith("sqlite:///") and not place.is_file():
        return {}  # opening it would make one
    found: dict[tuple[str, str], Marks] = {}
    with trouble_with_gradebook(coursedir.db_url), Gradebook(coursedir.db_url, coursedir.course_id) as book:
        for assignment in book.assignments:
            if assignment.name in lessons:
                for learner, marks in _of_lesson(book, assignment).items():
                    if learners is None or learner in learners:
                        found[learner, assignment.name] = marks
    return found


def _of_lesson(book: Any, assignment: Any) -> dict[str, Marks]:
    """Three queries a lesson: nbgrader's objects would ask once a cell."""
    from nbgrader.api import (
        BaseCell,
        Comment,
        Grade,
        GradeCell,
        SubmittedAssignment,
        SubmittedNotebook,
        TaskCell,
    )

    query = book.db.query
    points: dict[str, tuple[str, float]] = {}
    for kind in (GradeCell, TaskCell):
        points.update(
            {cell.id: (cell.name, float(cell.max_score)) for notebook in assignment.notebooks
             for cell in query(kind).filter(kind.notebook_id == notebook.id)}
        )  # fmt: skip
    most = float(assignment.max_score)
    cells: dict[str, dict[str, CellMark]] = {}
    grades = (
        query(Grade.notebook_id, Grade.cell_id, Grade.auto_score, Grade.manual_score, Grade.extra_credit,
              Grade.needs_manual_grade)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .filter(SubmittedAssignment.assignment_id == assignment.id)
    )  # fmt: skip
    for notebook, cell, auto, manual, extra, needed in grades:
        if cell in points:
            name, full = points[cell]
            base = manual if manual is not None else auto
            score = 0.0 if base is None else float(base) + float(extra or 0.0)
            waits = bool(needed) and manual is None
            given = None if manual is None else float(manual)
            cells.setdefault(notebook, {})[name] = CellMark(name, score, full, given, float(extra or 0.0), waits)
    comments: dict[str, dict[str, str]] = {}
    written = (
        query(Comment.notebook_id, BaseCell.name, Comment.manual_comment)
        .join(BaseCell, BaseCell.id == Comment.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .filter(SubmittedAssignment.assignment_id == assignment.id)
        .filter(Comment.manual_comment.isnot(None))
    )
    for notebook, name, text in written:
        if str(text).strip():
            comments.setdefault(notebook, {})[name] = str(text).strip()
    found: dict[str, Marks] = {}
    notebooks = (
        query(SubmittedAssignment, SubmittedNotebook.id, SubmittedNotebook.late_submission_penalty)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .filter(SubmittedAssignment.assignment_id == assignment.id)
    )
    for submission, notebook, penalty in notebooks:
        before = found.get(submission.student_id)
        found[submission.student_id] = Marks(
            most,
            # In a fixed order: pages know by it whether something has changed.
            dict(sorted({**(before.cells if before else {}), **cells.get(notebook, {})}.items())),
            dict(sorted({**(before.comments if before else {}), **comments.get(notebook, {})}.items())),
            (before.penalty if before else 0.0) + float(penalty or 0.0),
            float(submission.total_seconds_late), submission.timestamp,
        )  # fmt: skip
    return found
