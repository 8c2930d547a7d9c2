"""What the gradebook holds: of submissions marks that tests and people gave, comments and late penalties; of learners names."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbproof.gradebook.marks import CellMark, Lateness, Mark, Person, nothing_of
from nbproof.key import Key

__all__ = ["DueDates", "due_dates_in", "marks_in", "opened_gradebook", "people_in", "read_marks"]


@dataclass(frozen=True)
class DueDates:
    """When lessons are due, in UTC."""

    lessons: Mapping[str, datetime] = field(default_factory=dict)
    """For the class; a lesson without a due date is not there."""
    extensions: Mapping[Key, datetime] = field(default_factory=dict)
    """(learner, lesson) -> when it is due for those who have an extension."""

    def of(self, learner: str, lesson: str) -> datetime | None:
        """When a lesson is due for a learner; None if it never is."""
        return self.extensions.get(Key(learner, lesson), self.lessons.get(lesson))


def due_dates_in(book: Any) -> DueDates:
    """Every due date and extension of a gradebook."""
    from nbgrader.api import SubmittedAssignment

    lessons = {one.name: one.duedate.replace(tzinfo=UTC) for one in book.assignments if one.duedate is not None}
    extended = book.db.query(SubmittedAssignment).filter(SubmittedAssignment.extension.isnot(None))
    extensions = {
        Key(one.student_id, one.name): lessons[one.name] + one.extension for one in extended if one.name in lessons
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


def people_in(book: Any) -> list[Person]:
    """Everybody whom a gradebook knows."""
    keys = ("id", "first_name", "last_name", "email", "lms_user_id")
    return [Person(*(str(one.get(key) or "") for key in keys)) for one in book.student_dicts()]


def read_marks(root: Path, lessons: Collection[str], learners: Collection[str] | None = None) -> dict[Key, Mark]:
    """The marks of these lessons and learners (None: all). Empty if there is no gradebook.

    Raises GradingError if it cannot be read.
    """
    with opened_gradebook(root) as book:
        known = [one.name for one in book.assignments if one.name in lessons] if book is not None else []
        found = {Key(learner, name): mark for name in known for learner, mark in marks_in(book, name).items()}
    return {key: mark for key, mark in found.items() if learners is None or key[0] in learners}


def marks_in(book: Any, lesson: str) -> dict[str, Mark]:
    """Learner -> mark, for all submissions of a lesson. Some queries a lesson: nbgrader's objects would ask once a cell.

    An extension makes a submission before anything was handed in: as long as nothing else is known of it, it is left out.
    """
    from nbgrader.api import SubmittedAssignment
    from sqlalchemy.orm import undefer

    book.db.expire_all()
    assignment = book.find_assignment(lesson)
    notebooks = [one.id for one in assignment.notebooks]
    cells, comments = _cells_in(book, notebooks), _comments_in(book, notebooks)
    dated = assignment.duedate is not None
    submissions = book.db.query(SubmittedAssignment).filter(SubmittedAssignment.assignment_id == assignment.id)
    found = {}
    for one in submissions.options(undefer(SubmittedAssignment.late_submission_penalty)):
        late = Lateness(handed_in=one.timestamp)
        if dated:
            extended = one.extension is not None
            late = Lateness(float(one.total_seconds_late), False, one.timestamp, one.duedate, extended)
        found[one.student_id] = Mark(
            nothing_of(one.student_id, lesson),
            float(assignment.max_score),
            # In a fixed order: pages know by it whether something has changed.
            dict(sorted(cells[one.id].items())),
            dict(sorted(comments[one.id].items())),
            float(one.late_submission_penalty or 0.0),
            late,
        )
        if one.extension is not None and one.timestamp is None and not _is_marked(found[one.student_id]):
            del found[one.student_id]
    return found


def _cells_in(book: Any, notebooks: list[str]) -> dict[str, dict[str, CellMark]]:
    """Submission's id in the database -> grade_id -> mark."""
    from nbgrader.api import Grade, GradeCell, SubmittedNotebook, TaskCell

    query = book.db.query
    known = {}
    for kind in (GradeCell, TaskCell):
        cells = query(kind.id, kind.name, kind.max_score, kind.cell_type).filter(kind.notebook_id.in_(notebooks))
        known.update({cell.id: cell for cell in cells})
    grades = (
        query(
            SubmittedNotebook.assignment_id,
            Grade.cell_id,
            Grade.auto_score,
            Grade.manual_score,
            Grade.extra_credit,
            Grade.needs_manual_grade,
        )
        .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
        .filter(SubmittedNotebook.notebook_id.in_(notebooks))
    )
    found: dict[str, dict[str, CellMark]] = defaultdict(dict)
    for submission, cell, auto, manual, extra, listed in grades:
        of = known[cell]
        by_hand = of.cell_type == "markdown" or auto is None
        found[submission][of.name] = CellMark(
            of.name, float(of.max_score), auto, manual, float(extra or 0.0), bool(listed), by_hand
        )
    return found


def _comments_in(book: Any, notebooks: list[str]) -> dict[str, dict[str, str]]:
    """Submission's id in the database -> grade_id -> what a person wrote."""
    from nbgrader.api import BaseCell, Comment, SubmittedNotebook

    written = (
        book.db.query(SubmittedNotebook.assignment_id, BaseCell.name, Comment.manual_comment)
        .join(BaseCell, BaseCell.id == Comment.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id)
        .filter(SubmittedNotebook.notebook_id.in_(notebooks))
        .filter(Comment.manual_comment.isnot(None))
    )
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for submission, name, text in written:
        if str(text).strip():
            found[submission][name] = str(text).strip()
    return found


def _is_marked(mark: Mark) -> bool:
    cells = mark.cells.values()
    return bool(mark.comments) or any(one.auto is not None or one.given is not None or one.listed for one in cells)
