"""Read the gradebook: the names of learners, and the marks, comments and late penalties of submissions."""

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
from nbproof.grouping import merged
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
    """The times when lessons are due, in UTC."""

    lessons: Mapping[str, datetime] = field(default_factory=dict)
    """Lesson -> the due date of the class. A lesson without one is not there."""
    extensions: Mapping[Key, datetime] = field(default_factory=dict)
    """Key -> the due date, for learners with an extension."""


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
    """Open the course's gradebook; None if there is none yet, because to open it would make one. Raises GradingError if the
    database fails."""
    coursedir = NbGraderAPI(config=course_config(root)).coursedir
    if coursedir.db_url.startswith("sqlite:///") and not Path(coursedir.db_url.removeprefix("sqlite:///")).is_file():
        yield None
        return
    with trouble_with_gradebook(coursedir.db_url), Gradebook(coursedir.db_url, coursedir.course_id) as book:
        yield book


def is_another(book: Any, numbers: Collection[int]) -> bool:
    """Whether the gradebook's state has none of these numbers (:meth:`nbproof.gradebook.writer.Writer.number`).

    Then it is an earlier copy, or another folder's. Only a file of SQLite has a number: another database is never another one.
    """
    if not numbers or book.db.bind.dialect.name != "sqlite":
        return False
    return book.db.execute(text("PRAGMA user_version")).scalar() not in numbers


def people_in(book: Any) -> list[Person]:
    """All learners in a gradebook. A last name alone is a whole name: nothing says which part of it is which."""
    return [_person(student) for student in book.student_dicts()]


def _person(student: Mapping[str, Any]) -> Person:
    """A learner, from the columns of nbgrader's table."""
    columns = (student.get(key) for key in ("id", "first_name", "last_name", "email", "lms_user_id"))
    person = Person(*(str(text or "") for text in columns))
    if person.first_name:
        return person
    return replace(person, last_name="", full_name=person.last_name)


def read_marks(root: Path, lessons: Collection[str], learners: Collection[str] | None = None) -> dict[Key, Mark]:
    """The marks of these lessons and learners (None: all). Empty if there is no gradebook.

    Raises GradingError if it cannot be read.
    """
    found: dict[Key, Mark] = {}
    with opened_gradebook(root) as book:
        if book is not None:
            found = marks_in(book, *sorted(set(lessons) & set(lessons_in(book))))
    return {key: mark for key, mark in found.items() if learners is None or key.learner in learners}


def lessons_in(book: Any) -> dict[str, float]:
    """The assignments that a gradebook knows, and their notebooks, ``assignment/notebook`` -> their points."""
    found = {}
    for one in book.assignments:
        found[one.name] = float(one.max_score)
        found |= {f"{one.name}/{notebook.name}": float(notebook.max_score) for notebook in one.notebooks}
    return found


def left_behind(book: Any, assignments: Collection[str]) -> Iterator[str]:
    """A line for each assignment that people gave something to, and that is none of these any more: what, and what helps."""
    for one in book.assignments:
        # One without notebooks is not there yet.
        if one.notebooks and one.name not in assignments and (given := _given_to(book, one)):
            name = printable(one.name)
            yield (
                f"{name} is in the gradebook only, with {', '.join(given)}: "
                f"if its folder has another name now, call it {name} again in source/, release/ and submitted/ (and lessons/, "
                "if you have that), then grade again. If it is over, take it out of the gradebook, with all its marks, comments "
                f"and dates: {nbgrader_command(shlex.join(['db', 'assignment', 'remove', one.name, '--force']))}"
            )


def _given_to(book: Any, assignment: Any) -> list[str]:
    """What people gave to an assignment, counted: ``2 manual marks``."""
    given = {
        "manual mark": 0,
        "comment": 0,
        "due date": int(assignment.duedate is not None),
        "extension": sum(one.extension is not None for one in assignment.submissions),
    }
    for mark in marks_in(book, assignment.name).values():
        given["manual mark"] += sum(cell.by_person for cell in mark.cells.values())
        given["comment"] += len(mark.comments)
    return [counted(count, what) for what, count in given.items() if count]


def marks_in(book: Any, *lessons: str) -> dict[Key, Mark]:
    """The marks of all submissions of these lessons, or assignments."""
    return merged(_marks_of(book, lesson) for lesson in lessons)


def _marks_of(book: Any, lesson: str) -> dict[Key, Mark]:
    """The marks of all submissions of a lesson, or of an assignment. The cells of an assignment with several notebooks are
    called ``notebook/cell``. It takes some queries a lesson: nbgrader's objects would ask once a cell.

    Each notebook has its own penalty for being late.

    An extension makes a submission before anything was handed in: as long as nothing else is known of it, it is left out.
    """
    book.db.expire_all()
    assignment = book.find_assignment(assignment_of(lesson))
    notebooks = [one for one in assignment.notebooks if "/" not in lesson or one.name == notebook_of(lesson)]
    most = sum(float(one.max_score) for one in notebooks)
    above = {one.id: "" for one in notebooks}
    if len(notebooks) > 1:
        above = {one.id: f"{one.name}/" for one in notebooks}
    cells = _cells_in(book, above)
    comments = _comments_in(book, above)
    penalties = _penalties_in(book, above)
    found = {}
    for one in book.db.query(SubmittedAssignment).filter(SubmittedAssignment.assignment_id == assignment.id):
        mark = Mark(
            Verdict(one.student_id, lesson),
            most,
            # In a fixed order: pages know by it whether something has changed.
            dict(sorted(cells[one.id].items())),
            dict(sorted(comments[one.id].items())),
            penalties.get(one.id) or 0.0,
            _lateness(one, assignment.duedate is not None),
        )
        if one.timestamp is not None or one.extension is None or _is_marked(mark):
            found[mark.key] = mark
    return found


def _lateness(submission: Any, is_dated: bool) -> Lateness:
    """The times of a submission. ``is_dated``: whether the assignment has a due date."""
    if not is_dated:
        return Lateness(handed_in=submission.timestamp)
    seconds = float(submission.total_seconds_late)
    return Lateness(seconds, False, submission.timestamp, submission.duedate, submission.extension is not None)


def _penalties_in(book: Any, notebooks: Collection[str]) -> dict[str, float | None]:
    """Submission's id in the database -> the sum of the late penalties of these notebooks."""
    sums = (
        book.db.query(SubmittedNotebook.assignment_id, func.sum(SubmittedNotebook.late_submission_penalty))
        .filter(SubmittedNotebook.notebook_id.in_(notebooks))
        .group_by(SubmittedNotebook.assignment_id)
    )
    return dict(sums.all())


def _cells_in(book: Any, notebooks: Mapping[str, str]) -> dict[str, dict[str, CellMark]]:
    """Submission's id in the database -> grade_id -> mark. ``notebooks``: id -> the text that is put before a grade_id."""
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
    for submission, notebook, number, auto, manual, extra, waits in grades:
        cell = known[number]
        by_hand = cell.cell_type == "markdown" or auto is None
        name = f"{notebooks[notebook]}{cell.name}"
        found[submission][name] = CellMark(
            name, float(cell.max_score), auto, manual, float(extra or 0.0), bool(waits), by_hand
        )
    return found


def _comments_in(book: Any, notebooks: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Submission's id in the database -> grade_id -> the comment of a person. ``notebooks``: as for :func:`_cells_in`."""
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
    """Whether tests or people gave anything to a submission, or a cell of it waits for a person."""
    cells = mark.cells.values()
    return bool(mark.comments) or any(one.auto is not None or one.by_person or one.waits_for_person for one in cells)
