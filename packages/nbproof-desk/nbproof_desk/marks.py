"""What people gave, in nbgrader's gradebook, as formgrader keeps it: points, comments, and whether a cell waits for a person.

A mark is written only if all is as its marker has seen it: each row is changed where it still holds the old values, and all rows
of one mark are changed in one transaction, or none is.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.apps import NbGraderAPI
from sqlalchemy import select, update

from nbproof.files import digest_of
from nbproof.gradebook.marks import Person
from nbproof.gradebook.reader import people_in
from nbproof.gradebook.storage_errors import trouble_with_gradebook
from nbproof.grouping import grouped
from nbproof.key import Key, assignment_of, notebook_of
from nbproof.places import course_config
from nbproof_desk.questions import MarkedQuestion

__all__ = ["Change", "Given", "MarksBook", "OtherRubric", "Overtaken", "Rows"]


_FEW = 500
"""Learners whose ids a query may name: databases allow no more than some thousands."""


class Overtaken(Exception):
    """Somebody else has changed a mark since its marker saw it: nothing was written. ``learners``: of these, if not of those
    that were asked for."""

    def __init__(self, learners: Iterable[str] = ()) -> None:
        self.learners = frozenset(learners)
        super().__init__()


class OtherRubric(Exception):
    """The rubric has changed since the page showed it: nothing was written."""


@dataclass(frozen=True)
class CellGiven:
    """One graded cell: the points that a person gave, and whether it waits for a person."""

    points: float | None
    waits: bool


@dataclass(frozen=True)
class Given:
    """What people gave for one answer. ``scores``: by cell."""

    scores: Mapping[str, CellGiven]
    comment: str | None = None

    @property
    def points(self) -> float | None:
        """The sum of a person's points; None unless each cell has some."""
        points = [one.points for one in self.scores.values() if one.points is not None]
        return sum(points) if len(points) == len(self.scores) else None

    @property
    def waits(self) -> bool:
        """Whether a person has to look at it."""
        return self.points is None or any(one.waits for one in self.scores.values())

    @property
    def version(self) -> str:
        """A digest of all of it."""
        return digest_of(json.dumps(self.as_json(), sort_keys=True).encode())[:12]

    def as_json(self) -> dict[str, Any]:
        """For the journal."""
        return {"scores": {name: [one.points, one.waits] for name, one in self.scores.items()}, "comment": self.comment}

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> Given:
        """What :meth:`as_json` wrote down."""
        return cls({name: CellGiven(*one) for name, one in kept["scores"].items()}, kept["comment"])

    @property
    def waiting(self) -> Given:
        """The same without points: it waits for a person."""
        return replace(self, scores=dict.fromkeys(self.scores, CellGiven(None, True)))

    def with_points(self, points: Mapping[str, float]) -> Given:
        """The same with these points, by cell: nothing of it waits any more."""
        return replace(self, scores={name: CellGiven(points[name], False) for name in self.scores})


@dataclass(frozen=True)
class Change:
    """One answer's mark, before and after. ``learner`` is the id; ``letters``: of the rubric's items that the mark rests on."""

    learner: str
    before: Given
    after: Given
    letters_before: str = ""
    letters: str = ""

    @property
    def back(self) -> Change:
        """What takes it back."""
        return Change(self.learner, self.after, self.before, self.letters, self.letters_before)

    def as_json(self) -> dict[str, Any]:
        """For the journal."""
        told = {"learner": self.learner, "before": self.before.as_json(), "after": self.after.as_json()}
        if self.letters_before or self.letters:
            told |= {"rested on": self.letters_before, "rests on": self.letters}
        return told

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> Change:
        """What :meth:`as_json` wrote down."""
        before, after = Given.of_json(kept["before"]), Given.of_json(kept["after"])
        return cls(kept["learner"], before, after, kept.get("rested on", ""), kept.get("rests on", ""))


class MarksBook:
    """The gradebook of a course, open as long as the desk is."""

    def __init__(self, root: Path) -> None:
        coursedir = NbGraderAPI(config=course_config(root)).coursedir
        self._url = coursedir.db_url
        self._course_id = coursedir.course_id
        self._book: Any = None

    @contextmanager
    def _session(self) -> Iterator[Any]:
        """A session of its own, which holds no lock when it ends. Raises GradingError if the database fails."""
        with trouble_with_gradebook(self._url):
            if self._book is None:
                self._book = Gradebook(self._url, self._course_id)
            try:
                yield self._book.db
            finally:
                self._book.db.rollback()
                self._book.db.expire_all()

    def close(self) -> None:
        """Let go of the database."""
        if self._book is not None:
            self._book.close()

    def people(self) -> dict[str, Person]:
        """Everybody in the gradebook, by id."""
        with self._session():
            return {one.id: one for one in people_in(self._book)}

    def again(self) -> dict[Key, frozenset[str]]:
        """The cells that wait for a person although one has given points: something has changed since."""
        query = (
            select(SubmittedAssignment.student_id, Assignment.name, Notebook.name, BaseCell.name)
            .select_from(Grade)
            .join(BaseCell, BaseCell.id == Grade.cell_id)
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .where(Grade.needs_manual_grade.is_(True), Grade.manual_score.is_not(None))
        )
        found = []
        with self._session() as session:
            for learner, assignment, notebook, cell in session.execute(query):
                # An assignment with one notebook of its name is a lesson of that name.
                found += [(Key(learner, name), cell) for name in {assignment, f"{assignment}/{notebook}"}]
        return {key: frozenset(cells) for key, cells in grouped(found).items()}

    @contextmanager
    def rows(self, question: MarkedQuestion, learners: Collection[str] | None = None) -> Iterator[Rows]:
        """What the gradebook has of this question; of these learners, None: of all."""
        with self._session() as session:
            yield Rows(session, question, learners)

    def given(self, question: MarkedQuestion, learners: Collection[str] | None = None) -> dict[str, Given]:
        """Learner -> what people gave for the answer to this question; of these learners, None: of all."""
        with self.rows(question, learners) as rows:
            return rows.given()

    def takes_comment(self, question: MarkedQuestion, learner: str) -> bool:
        """Whether nbgrader has a place for a comment on this learner's answer: a cell of tests alone has none."""
        with self._session() as session:
            return bool(session.execute(_rows_of(Comment, question, [question.name], [learner])).all())


class Rows:
    """The rows of a question's grades and comments, of these learners; None: of all."""

    def __init__(self, session: Any, question: MarkedQuestion, learners: Collection[str] | None) -> None:
        self._session = session
        self._grades: dict[str, dict[str, Any]] = defaultdict(dict)
        self._comments: dict[str, Any] = {}
        for row in session.execute(_rows_of(Grade, question, question.cells, learners)):
            self._grades[row.learner][row.cell] = row
        for row in session.execute(_rows_of(Comment, question, [question.name], learners)):
            self._comments[row.learner] = row
        self._cells = tuple(question.cells)

    def given(self) -> dict[str, Given]:
        """By learner; without those that the gradebook lacks a cell of."""
        found = {}
        for learner, rows in self._grades.items():
            if rows.keys() >= set(self._cells):
                scores = {
                    name: CellGiven(rows[name].manual_score, bool(rows[name].needs_manual_grade))
                    for name in self._cells
                }
                found[learner] = Given(scores, self._comment(learner))
        return found

    def _comment(self, learner: str) -> str | None:
        row = self._comments.get(learner)
        return row.manual_comment if row is not None else None

    def write(self, changes: Iterable[Change], note: Callable[[], None]) -> None:
        """Write these changes, all or none; ``note`` is called when nothing but the commit is left to do.

        Raises Overtaken if a row does not hold any more what it held before.
        """
        # Of a group all rows change alike: one statement does it.
        moves: dict[tuple[CellGiven, CellGiven], list[Any]] = defaultdict(list)
        says: dict[tuple[str | None, str | None], list[Any]] = defaultdict(list)
        for one in changes:
            for name, after in one.after.scores.items():
                moves[one.before.scores[name], after].append(self._grades[one.learner].get(name))
            if one.after.comment != one.before.comment:
                says[one.before.comment, one.after.comment].append(self._comments.get(one.learner))
        grades, comments = Grade.__table__, Comment.__table__
        for (old, new), rows in moves.items():
            is_same = grades.c.manual_score.is_not_distinct_from(old.points)
            waits = grades.c.needs_manual_grade.is_not_distinct_from(old.waits)
            told = update(grades).values(manual_score=new.points, needs_manual_grade=new.waits)
            self._update(rows, told.where(is_same, waits))
        for (was, text), rows in says.items():
            is_same = comments.c.manual_comment.is_not_distinct_from(was)
            self._update(rows, update(comments).values(manual_comment=text).where(is_same))
        note()
        self._session.commit()

    def _update(self, rows: Sequence[Any], how: Any) -> None:
        """Run a statement for these rows. Raises Overtaken if one is not there, or not as the statement wants it."""
        if None in rows:
            raise Overtaken
        for start in range(0, len(rows), _FEW):
            ids = [row.id for row in rows[start : start + _FEW]]
            if self._session.execute(how.where(how.table.c.id.in_(ids))).rowcount != len(ids):
                raise Overtaken


def _rows_of(kind: Any, question: MarkedQuestion, cells: Iterable[str], learners: Collection[str] | None) -> Any:
    """The query for the rows of these cells, of these learners; None: of all."""
    query = (
        select(*kind.__table__.c, SubmittedAssignment.student_id.label("learner"), BaseCell.name.label("cell"))
        .join(BaseCell, BaseCell.id == kind.cell_id)
        .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
        .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .where(Assignment.name == assignment_of(question.lesson))
        .where(Notebook.name == notebook_of(question.lesson))
        .where(BaseCell.name.in_(list(cells)))
    )
    if learners is not None and len(learners) <= _FEW:
        query = query.where(SubmittedAssignment.student_id.in_(list(learners)))
    return query
