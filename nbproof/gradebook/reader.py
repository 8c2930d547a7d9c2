"""What the gradebook holds: of submissions marks that tests and people gave, comments and late penalties; of learners names."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbproof.marking.results import SubmissionVerdict

__all__ = ["CellMark", "DueDates", "Marks", "due_dates_in", "marks_in", "opened_gradebook", "read_marks"]


@dataclass(frozen=True)
class CellMark:
    """One graded cell of one submission."""

    name: str
    score: float
    max_score: float
    given: float | None
    """What a person gave; None if nobody has."""
    extra: float
    waits: bool
    """Whether a person is to mark it, and has not."""
    auto: float | None = None
    """What tests gave; None if only a person gives marks."""
    listed: bool = False
    """Whether formgrader lists it for a person, also where one has marked it before."""
    by_hand: bool = False
    """Whether only a person can mark it."""


@dataclass(frozen=True)
class Marks:
    """One submission."""

    max_score: float
    cells: Mapping[str, CellMark]
    comments: Mapping[str, str]
    """Cell -> what a person wrote about it."""
    penalty: float = 0.0
    seconds_late: float = 0.0
    handed_in: datetime | None = None
    """In UTC."""
    due: datetime | None = None
    """For this learner, in UTC."""
    extended: bool = False
    """Whether that is later than for the class."""

    @property
    def total(self) -> float:
        """Marks given by hand included, the penalty not taken off."""
        return sum(cell.score for cell in self.cells.values())

    @property
    def score(self) -> float:
        """Its marks, less the late penalty: as nbgrader exports it."""
        return max(0.0, self.total - self.penalty)

    @property
    def waiting(self) -> int:
        """Written answers that nobody has marked yet."""
        return sum(cell.listed and cell.by_hand for cell in self.cells.values())

    @property
    def pending(self) -> bool:
        """Whether a person is to look at anything."""
        return any(cell.listed for cell in self.cells.values())

    def settled(self, verdict: SubmissionVerdict) -> frozenset[str]:
        """Exercises whose marks a person has given, of every test cell."""
        given = {name for name, cell in self.cells.items() if cell.given is not None}
        return frozenset(one.id for one in verdict.exercises if one.of.keys() <= given)

    def agrees_with(self, verdict: SubmissionVerdict) -> bool:
        """Whether every score of the verdict has arrived. nbgrader commits a new submission before its scores."""
        return all(self.cells[name].auto == score for name, score in verdict.scores.items() if name in self.cells)


@dataclass(frozen=True)
class DueDates:
    """When lessons are due, in UTC."""

    lessons: Mapping[str, datetime] = field(default_factory=dict)
    """For the class; a lesson without a due date is not there."""
    extensions: Mapping[tuple[str, str], datetime] = field(default_factory=dict)
    """(learner, lesson) -> when it is due for those who have an extension."""

    def of(self, learner: str, lesson: str) -> datetime | None:
        """When a lesson is due for a learner; None if it never is."""
        return self.extensions.get((learner, lesson), self.lessons.get(lesson))


def due_dates_in(book: Any) -> DueDates:
    """Every due date and extension of a gradebook."""
    from nbgrader.api import SubmittedAssignment

    lessons = {one.name: one.duedate.replace(tzinfo=UTC) for one in book.assignments if one.duedate is not None}
    extended = book.db.query(SubmittedAssignment).filter(SubmittedAssignment.extension.isnot(None))
    extensions = {
        (one.student_id, one.name): lessons[one.name] + one.extension for one in extended if one.name in lessons
    }
    return DueDates(lessons, dict(sorted(extensions.items())))


@contextlib.contextmanager
def opened_gradebook(root: Path) -> Iterator[Any | None]:
    """The course's gradebook; None if there is none yet, for opening it would make one. Raises GradingError if it fails."""
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI

    from nbproof.gradebook.storage_errors import trouble_with_gradebook
    from nbproof.nbgrader_setup import course_config

    coursedir = NbGraderAPI(config=course_config(root)).coursedir
    if coursedir.db_url.startswith("sqlite:///") and not Path(coursedir.db_url.removeprefix("sqlite:///")).is_file():
        yield None
        return
    with trouble_with_gradebook(coursedir.db_url), Gradebook(coursedir.db_url, coursedir.course_id) as book:
        yield book


def read_marks(
    root: Path, lessons: Collection[str], learners: Collection[str] | None = None
) -> dict[tuple[str, str], Marks]:
    """(learner, lesson) -> marks, of these lessons and learners (None: all). Empty if there is no gradebook.

    Raises GradingError if it cannot be read.
    """
    with opened_gradebook(root) as book:
        return {
            (learner, assignment.name): marks
            for assignment in (book.assignments if book is not None else ())
            if assignment.name in lessons
            for learner, marks in marks_in(book, assignment.name).items()
            if learners is None or learner in learners
        }


def marks_in(book: Any, lesson: str) -> dict[str, Marks]:
    """Learner -> marks, for all submissions of a lesson. Some queries a lesson: nbgrader's objects would ask once a cell.

    An extension makes a submission before anything was handed in: as long as nothing else is known of it, it is left out.
    """
    from nbgrader.api import BaseCell, Comment, Grade, GradeCell, SubmittedAssignment, SubmittedNotebook, TaskCell
    from sqlalchemy.orm import undefer

    query = book.db.query
    book.db.expire_all()
    assignment = book.find_assignment(lesson)
    notebooks = [one.id for one in assignment.notebooks]
    submitted, whose = SubmittedNotebook.notebook_id.in_(notebooks), SubmittedNotebook.assignment_id
    known = {
        cell.id: cell for kind in (GradeCell, TaskCell)
        for cell in query(kind.id, kind.name, kind.max_score, kind.cell_type).filter(kind.notebook_id.in_(notebooks))
    }  # fmt: skip
    cells: dict[str, dict[str, CellMark]] = defaultdict(dict)
    grades = (
        query(whose, Grade.cell_id, Grade.auto_score, Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id).filter(submitted)
    )  # fmt: skip
    for submission, cell, auto, manual, extra, needed in grades:
        name, base, more = known[cell].name, manual if manual is not None else auto, float(extra or 0.0)
        cells[submission][name] = CellMark(
            name, 0.0 if base is None else float(base) + more, float(known[cell].max_score),
            None if manual is None else float(manual), more, bool(needed) and manual is None, auto, bool(needed),
            known[cell].cell_type == "markdown" or auto is None,
        )  # fmt: skip
    comments: dict[str, dict[str, str]] = defaultdict(dict)
    written = (
        query(whose, BaseCell.name, Comment.manual_comment)
        .join(BaseCell, BaseCell.id == Comment.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id).filter(submitted)
        .filter(Comment.manual_comment.isnot(None))
    )  # fmt: skip
    for submission, name, text in written:
        if str(text).strip():
            comments[submission][name] = str(text).strip()
    most, dated = float(assignment.max_score), assignment.duedate is not None
    submissions = query(SubmittedAssignment).filter(SubmittedAssignment.assignment_id == assignment.id)
    return {
        # Cells in a fixed order: pages know by it whether something has changed.
        one.student_id: Marks(
            most, dict(sorted(cells[one.id].items())), dict(sorted(comments[one.id].items())),
            float(one.late_submission_penalty or 0.0), float(one.total_seconds_late) if dated else 0.0, one.timestamp,
            one.duedate if dated else None, dated and one.extension is not None,
        )
        for one in submissions.options(undefer(SubmittedAssignment.late_submission_penalty))
        if one.extension is None or one.timestamp is not None or _is_marked(cells[one.id].values(), comments[one.id])
    }  # fmt: skip


def _is_marked(cells: Iterable[CellMark], comments: Collection[str]) -> bool:
    return bool(comments) or any(one.auto is not None or one.given is not None or one.listed for one in cells)
