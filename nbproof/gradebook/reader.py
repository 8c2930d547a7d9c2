"""What the gradebook holds: the names of learners, and of submissions the marks, the comments and the late penalties."""

from __future__ import annotations

import contextlib
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from nbgrader.apps import NbGraderAPI
from sqlalchemy import func, text

from nbproof.command import nbgrader_command
from nbproof.gradebook.marks import CellMark, Lateness, Mark, Person
from nbproof.gradebook.storage_errors import trouble_with_gradebook
from nbproof.key import Key, assignment_of, notebook_of
from nbproof.marking.results import Verdict
from nbproof.places import course_config
from nbproof.text import counted, printable

__all__ = [
    "DueDates",
    "due_dates_in",
    "is_another",
    "left_behind",
    "lessons_in",
    "marks_in",
    "opened_gradebook",
    "people_in",
    "read_marks",
]


@dataclass(frozen=True)
class DueDates:
    """When lessons are due, in UTC."""

    lessons: Mapping[str, datetime] = field(default_factory=dict)
    """For the class; a lesson without a due date is not there."""
    extensions: Mapping[Key, datetime] = field(default_factory=dict)
    """(learner, lesson) -> the due date, for learners with an extension."""


def due_dates_in(book: Any) -> DueDates:
    """Every due date and extension of a gradebook."""
    lessons = {one.name: one.duedate.replace(tzinfo=UTC) for one in book.assignments if one.duedate is not None}
    extended = book.db.query(SubmittedAssignment).filter(SubmittedAssignment.extension.isnot(None))
    extensions = {
        Key(one.student_id, one.name): lessons[one.name] + one.extension for one in extended if one.name in lessons
    }
    return DueDates(lessons, dict(sorted(extensions.items())))


@contextlib.contextmanager
def opened_gradebook(root: Path) -> Iterator[Any | None]:
    """The course's gradebook; None if there is none yet, for opening it would make one. Raises GradingError if it fails."""
    coursedir = NbGraderAPI(config=course_config(root)).coursedir
    if coursedir.db_url.startswith("sqlite:///") and not Path(coursedir.db_url.removeprefix("sqlite:///")).is_file():
        yield None
        return
    with trouble_with_gradebook(coursedir.db_url), Gradebook(coursedir.db_url, coursedir.course_id) as book:
        yield book


def is_another(book: Any, numbers: Collection[int]) -> bool:
    """Whether a gradebook is in no state that has one of these numbers (:meth:`nbproof.gradebook.writer.Writer.number`): it is a
    copy of before, or of another folder. Only a file of SQLite has a number: of another database nothing tells.
    """
    if not numbers or book.db.bind.dialect.name != "sqlite":
        return False
    return book.db.execute(text("PRAGMA user_version")).scalar() not in numbers


def people_in(book: Any) -> list[Person]:
    """All learners in a gradebook. A last name alone is a whole name: nothing says which part of it is which."""
    keys = ("id", "first_name", "last_name", "email", "lms_user_id")
    found = [Person(*(str(one.get(key) or "") for key in keys)) for one in book.student_dicts()]
    return [one if one.first_name else replace(one, last_name="", full_name=one.last_name) for one in found]


def read_marks(root: Path, lessons: Collection[str], learners: Collection[str] | None = None) -> dict[Key, Mark]:
    """The marks of these lessons and learners (None: all). Empty if there is no gradebook.

    Raises GradingError if it cannot be read.
    """
    with opened_gradebook(root) as book:
        known = sorted(set(lessons) & set(lessons_in(book))) if book is not None else []
        found = {Key(learner, name): mark for name in known for learner, mark in marks_in(book, name).items()}
    return {key: mark for key, mark in found.items() if learners is None or key[0] in learners}


def lessons_in(book: Any) -> dict[str, float]:
    """Assignments, and notebooks of those that have several, that a gradebook knows -> their marks."""
    found = {}
    for one in book.assignments:
        found[one.name] = float(one.max_score)
        found |= {f"{one.name}/{notebook.name}": float(notebook.max_score) for notebook in one.notebooks}
    return found


def left_behind(book: Any, assignments: Collection[str]) -> Iterator[str]:
    """A line for each assignment that is none of these any more, and that people gave something to: what, and what helps."""
    # One without notebooks is not there yet.
    for one in [one for one in book.assignments if one.notebooks and one.name not in assignments]:
        marks = marks_in(book, one.name).values()
        given = {
            "manual mark": sum(cell.by_person for mark in marks for cell in mark.cells.values()),
            "comment": sum(len(mark.comments) for mark in marks),
            "due date": int(one.duedate is not None),
            "extension": sum(of.extension is not None for of in one.submissions),
        }
        if any(given.values()):
            name = printable(one.name)
            yield (
                f"{name} is in the gradebook only, with {', '.join(counted(count, of) for of, count in given.items() if count)}: "
                f"if its folder has another name now, call it {name} again in source/, release/ and submitted/ (and lessons/, "
                "if you have that), then grade again. If it is over, take it out of the gradebook, with all its marks, comments "
                f"and dates: {nbgrader_command(shlex.join(['db', 'assignment', 'remove', one.name, '--force']))}"
            )


def marks_in(book: Any, lesson: str) -> dict[str, Mark]:
    """Learner -> mark, for all submissions of a lesson, or of an assignment. The cells of an assignment with several notebooks
    are called ``notebook/cell``. It takes some queries a lesson: nbgrader's objects would ask once a cell.

    A penalty for being late is each notebook's own.

    An extension makes a submission before anything was handed in: as long as nothing else is known of it, it is left out.
    """
    book.db.expire_all()
    assignment = book.find_assignment(assignment_of(lesson))
    names = {one.id: one.name for one in assignment.notebooks}
    notebooks = [one for one, name in names.items() if "/" not in lesson or name == notebook_of(lesson)]
    most = sum(float(one.max_score) for one in assignment.notebooks if one.id in notebooks)
    above = {one: f"{names[one]}/" if len(notebooks) > 1 else "" for one in notebooks}
    cells, comments = _cells_in(book, above), _comments_in(book, above)
    dated = assignment.duedate is not None
    submissions = book.db.query(SubmittedAssignment).filter(SubmittedAssignment.assignment_id == assignment.id)
    sums = (
        book.db.query(SubmittedNotebook.assignment_id, func.sum(SubmittedNotebook.late_submission_penalty))
        .filter(SubmittedNotebook.notebook_id.in_(notebooks))
        .group_by(SubmittedNotebook.assignment_id)
    )
    found, penalties = {}, dict(sums.all())
    for one in submissions:
        extended = one.extension is not None
        late = Lateness(handed_in=one.timestamp)
        if dated:
            late = Lateness(float(one.total_seconds_late), False, one.timestamp, one.duedate, extended)
        found[one.student_id] = Mark(
            Verdict(one.student_id, lesson),
            most,
            # In a fixed order: pages know by it whether something has changed.
            dict(sorted(cells[one.id].items())),
            dict(sorted(comments[one.id].items())),
            penalties.get(one.id) or 0.0,
            late,
        )
        if extended and one.timestamp is None and not _is_marked(found[one.student_id]):
            del found[one.student_id]
    return found


def _cells_in(book: Any, notebooks: Mapping[str, str]) -> dict[str, dict[str, CellMark]]:
    """Submission's id in the database -> grade_id -> mark. ``notebooks``: id -> what is put before a grade_id."""
    query = book.db.query
    known = {}
    for kind in (GradeCell, TaskCell):
        cells = query(kind.id, kind.name, kind.max_score, kind.cell_type).filter(kind.notebook_id.in_(notebooks))
        known.update({cell.id: cell for cell in cells})
    grades = (
        query(
            SubmittedNotebook.assignment_id,
            SubmittedNotebook.notebook_id,
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
    for submission, notebook, cell, auto, manual, extra, listed in grades:
        of = known[cell]
        by_hand = of.cell_type == "markdown" or auto is None
        name = f"{notebooks[notebook]}{of.name}"
        found[submission][name] = CellMark(
            name, float(of.max_score), auto, manual, float(extra or 0.0), bool(listed), by_hand
        )
    return found


def _comments_in(book: Any, notebooks: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Submission's id in the database -> grade_id -> what a person wrote."""
    written = (
        book.db.query(
            SubmittedNotebook.assignment_id, SubmittedNotebook.notebook_id, BaseCell.name, Comment.manual_comment
        )
        .join(BaseCell, BaseCell.id == Comment.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id)
        .filter(SubmittedNotebook.notebook_id.in_(notebooks))
        .filter(Comment.manual_comment.isnot(None))
    )
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for submission, notebook, name, comment in written:
        if str(comment).strip():
            found[submission][f"{notebooks[notebook]}{name}"] = str(comment).strip()
    return found


def _is_marked(mark: Mark) -> bool:
    cells = mark.cells.values()
    return bool(mark.comments) or any(one.auto is not None or one.by_person or one.listed for one in cells)
