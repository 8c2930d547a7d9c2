"""The one writer: nbgrader's tables, lessons, verdicts and late penalties into its gradebook, through its own API."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    InvalidEntry,
    MissingEntry,
)
from nbgrader.converters import Autograde
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import text
from sqlalchemy.exc import DataError, SQLAlchemyError
from traitlets.config import Config

from nbproof.course_file import Course
from nbproof.errors import CourseError
from nbproof.files import written_whole
from nbproof.gradebook.marks import Mark
from nbproof.gradebook.reader import due_dates_in, marks_in
from nbproof.gradebook.receipts import time_in
from nbproof.gradebook.registry import create_tables, follow, is_by_person
from nbproof.gradebook.storage_errors import is_one_files
from nbproof.key import Key, assignment_of, notebook_of
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.results import Verdict
from nbproof.sandbox.exceptions import GradingError
from nbproof.text import in_one_line, printable
from nbproof.values.results import Status

__all__ = ["Penalties", "Writer"]


class Writer(Gradebook):  # type: ignore[misc]
    """nbgrader's gradebook, for one verdict after another. Use it as a context manager."""

    def __init__(self, db_url: str, course_id: str, late: Collection[Key] = (), zone: str = "UTC") -> None:
        """``late``: (learner, lesson) of what an LMS calls late without saying when it was handed in.

        ``zone``: of the times in ``timestamp.txt``.
        """
        self.db_url, self.late, self.zone = db_url, frozenset(late), zone
        _create_whole(db_url)
        create_tables(db_url)
        super().__init__(db_url, course_id)

    def number(self, number: int) -> None:
        """Number this state of the gradebook, so that a copy of an earlier one, or somebody else's, is known. A database that is
        no file has no place for it.
        """
        if self.db.bind.dialect.name == "sqlite":
            self.db.execute(text(f"PRAGMA user_version = {number}"))
            self.db.commit()

    def register(self, course: Course, config: Config, assignment: str, folder: Path) -> str:
        """Put an assignment's cells and points into the gradebook: :func:`nbproof.gradebook.registry.follow`."""
        try:
            return follow(self, course, config, assignment, folder)
        except BaseException as error:
            self.db.rollback()
            if not isinstance(error, (UnicodeError, DataError)):
                raise
            raise CourseError(
                f"the gradebook does not take {printable(assignment)}: {in_one_line(getattr(error, 'orig', None) or error)}",
                printable(str(folder)),
                "give the folder a name of few letters and digits, in source/, release/ and submitted/; then grade again",
            ) from None

    def is_stamped(self, held: Mark, learner: str, lesson: str, submitted: Path) -> bool:
        """Whether the time of the hand-in has arrived in the gradebook."""
        return self._handed_in(learner, lesson, submitted, held.late.handed_in) == held.late.handed_in

    def _handed_in(self, learner: str, lesson: str, submitted: Path, before: datetime | None) -> datetime | None:
        """When it was handed in, as ``timestamp.txt`` says. If an LMS says only that it was late, it was a second late.

        ``before``: what the gradebook has. It stays if nothing tells the time; a time that cannot be read leaves none. A
        learner who had such a second, and has handed in again since, came when it was due.
        """
        try:
            told = time_in(_stamp(learner, lesson, submitted), self.zone)
        except ValueError:
            told = before = None
        due = self.find_assignment(assignment_of(lesson)).duedate
        if told is not None:
            told = told.replace(tzinfo=None)
            # The last second of a due date is on time, to its end; a due date in the middle of one is meant to be.
            return told if due is not None and due.microsecond else told.replace(microsecond=0)
        at_least = due + timedelta(seconds=1) if due is not None else None
        if (learner, lesson) in self.late:
            return at_least
        return due if at_least is not None and before == at_least else before

    def end_minutes(self) -> None:
        """A due date of 23:59, as formgrader sets it, ends with that minute."""
        for one in self.assignments:
            if one.duedate is not None and (one.duedate.minute, one.duedate.second) == (59, 0):
                one.duedate = one.duedate.replace(second=59)
        self.db.commit()

    def follow_due(self) -> None:
        """What an LMS calls late, without saying when it came, came a second after today's due date."""
        for learner, lesson in self.late:
            with contextlib.suppress(MissingEntry):
                submission = self.find_submission(assignment_of(lesson), learner)
                due = submission.assignment.duedate
                submission.timestamp = due + timedelta(seconds=1) if due is not None else None
        self.db.commit()

    def set_due(self, lesson: str, when: datetime | None) -> None:
        """Set or take away the class's due date. A learner with a later one of their own keeps it; other extensions end."""
        extensions = due_dates_in(self).extensions
        self.update_or_create_assignment(lesson, duedate=when)
        for (learner, name), until in extensions.items():
            if name == lesson:
                self.extend(lesson, learner, until if when is not None and until > when else None)

    def extend(self, lesson: str, learner: str, until: datetime | None) -> None:
        """Set one learner's own due date of a registered lesson, later than the class's; None takes it away.

        nbgrader keeps an extension with the submission, so an empty one is made if nothing was handed in yet.
        """
        empty = learner not in marks_in(self, lesson)
        if until is not None:
            self.update_or_create_student(learner)
            try:
                self.find_submission(lesson, learner)
            except MissingEntry:
                for notebook in self.add_submission(lesson, learner).notebooks:
                    for grade in notebook.grades:
                        grade.needs_manual_grade = False  # there is nothing to mark
            more = until - due_dates_in(self).lessons[lesson]
            self.grant_extension(lesson, learner, minutes=more / timedelta(minutes=1))
        elif empty:
            self.remove_submission(lesson, learner)
        else:
            self.grant_extension(lesson, learner)

    def write(
        self,
        verdict: Verdict,
        blueprint: Blueprint,
        submitted: Path,
        answers: Mapping[str, str],
        earlier: Mapping[str, str],
        waited: Collection[str] | None = None,
    ) -> set[str]:
        """Scores and comments of one submission, as nbgrader's SaveAutoGrades sets them, in one transaction. Returns the cells
        that wait for a person.

        ``answers``: digests of the answers. ``earlier``: of those of the hand-in that was graded before. What a person has
        marked, and is still the same, does not wait for a person again. ``waited``: the cells that waited then, if another
        program has graded since.
        """
        try:
            return self._write(verdict, blueprint, submitted, answers, earlier, waited)
        except BaseException as error:
            # The next one must not find half of this in the session.
            self.db.rollback()
            if isinstance(error, InvalidEntry) and isinstance(error.__context__, SQLAlchemyError):
                # nbgrader raises this for any error of the database, a full disk too.
                raise error.__context__ from None
            raise

    def _write(
        self,
        verdict: Verdict,
        blueprint: Blueprint,
        submitted: Path,
        answers: Mapping[str, str],
        earlier: Mapping[str, str],
        waited: Collection[str] | None,
    ) -> set[str]:
        self.update_or_create_student(verdict.learner)
        submission = self.update_or_create_submission(assignment_of(verdict.lesson), verdict.learner)
        submission.timestamp = self._handed_in(verdict.learner, verdict.lesson, submitted, submission.timestamp)
        mine = [one.id for one in submission.notebooks if one.name == notebook_of(verdict.lesson)]
        grades = self._named(Grade, mine)
        changed = {name for name in answers.keys() | earlier.keys() if answers.get(name) != earlier.get(name)}
        for grade, name in grades:
            if waited is not None and is_by_person(grade):
                grade.needs_manual_grade = name in waited
            _set_grade(grade, name, verdict, blueprint, changed)
        for comment, name in self._named(Comment, mine):
            _set_comment(comment, name, verdict, blueprint)
        waits = {name for grade, name in grades if grade.needs_manual_grade}
        self.db.commit()
        return waits

    def write_absent(self, key: Key) -> None:
        """A notebook that was not handed in counts 0, and needs no person to mark it, as in nbgrader; a person's marks stay."""
        with contextlib.suppress(MissingEntry):
            found = self.find_submission_notebook(notebook_of(key.lesson), key.assignment, key.learner)
            for grade in found.grades:
                if grade.manual_score is None:
                    grade.auto_score, grade.needs_manual_grade = 0.0, False
        self.db.commit()

    def _named(self, kind: type[Grade | Comment], notebooks: Sequence[str]) -> list[Any]:
        """Those of these notebooks, each with its cell's grade_id: one query, where nbgrader's objects would ask once a cell."""
        query = self.db.query(kind, BaseCell.name).join(BaseCell, BaseCell.id == kind.cell_id)
        return list(query.filter(kind.notebook_id.in_(notebooks)))


def _set_grade(grade: Grade, name: str, verdict: Verdict, blueprint: Blueprint, changed: Collection[str]) -> None:
    if name in verdict.scores:
        asked = next((one for one in verdict.exercises if name in one.most), None)
        text = asked.id if asked is not None else name
        same = grade.auto_score == verdict.scores[name] and text not in changed
        grade.auto_score = verdict.scores[name]
        # A mark that a person gave stays. It is to be looked at again if the answer is another, or ended otherwise.
        waits = grade.needs_manual_grade or not same
        grade.needs_manual_grade = (
            waits if is_by_person(grade) else asked is not None and asked.status is Status.UNCERTAIN
        )
    elif name in blueprint.written:
        grade.auto_score = None
        grade.needs_manual_grade |= grade.manual_score is None or name in changed


def _set_comment(comment: Comment, name: str, verdict: Verdict, blueprint: Blueprint) -> None:
    asked = blueprint.written.get(name)
    stub = blueprint.stubs.get(name) if asked is None else asked.stub
    if stub is not None:
        untouched = verdict.answers.get(name, stub).strip() == stub.strip()
        comment.auto_comment = "No response." if untouched else None


def _stamp(learner: str, lesson: str, submitted: Path) -> Path:
    """In ``submitted/<learner>/<lesson>``, where the exchange and `collect` write it. A learner packed any deeper one."""
    named = {(learner, assignment_of(lesson)), (assignment_of(lesson), learner)}
    homes = (one for one in reversed(submitted.parents) if (one.parent.name, one.name) in named)
    return next(homes, submitted.parent) / "timestamp.txt"


def _create_whole(db_url: str) -> None:
    """Make a missing SQLite gradebook beside its place and move it there: a run cut off meanwhile leaves none, not half."""
    place = Path(db_url.removeprefix("sqlite:///"))
    if db_url.startswith("sqlite:///") and not place.exists():
        with written_whole(place) as fresh:
            fresh.unlink(missing_ok=True)
            create_tables(f"sqlite:///{fresh}")


class Penalties:
    """Late penalties are nbgrader's: of the preprocessor that it would run here, with the plug-in that nbgrader_config.py names.
    There are none if the course has taken that out of the list.

    Raises GradingError if the plug-in cannot be loaded.
    """

    def __init__(self, root: Path, config: Config, db_url: str) -> None:
        self._db_url = db_url
        try:
            listed = Autograde(config=config).autograde_preprocessors
            used = [one for one in listed if isinstance(one, type) and issubclass(one, AssignLatePenalties)]
            self._preprocessor = used[0](config=config) if used else None
        except Exception as error:  # traitlets raise what an import raises
            raise GradingError(
                f"the late-penalty plug-in fails: {_told(error)}", str(root / "nbgrader_config.py"), _MEND
            ) from None

    def assign(self, held: Mapping[Key, Mark], lessons: Collection[str]) -> tuple[str, ...]:
        """Have nbgrader set the penalty of each late submission, and take back the penalty of each that is late no more.

        ``held``: the marks by assignment.

        Returns a line for each assignment that the plug-in fails for; the others have their penalties.
        """
        failed: dict[str, str] = {}
        for (learner, assignment), have in held.items():
            if self._preprocessor is None or (have.late.seconds <= 0 and have.penalty <= 0):
                continue
            told = {"assignment": assignment, "student": learner, "db_url": self._db_url}
            try:
                for name in (notebook_of(one) for one in lessons if assignment_of(one) == assignment):
                    self._preprocessor.preprocess(nbformat.v4.new_notebook(), {"nbgrader": {**told, "notebook": name}})
            except Exception as error:  # an instructor's own code
                _refuse_trouble(error)
                failed.setdefault(assignment, f"{_told(error)} (for {printable(learner)})")
        return tuple(f"{name}: the late-penalty plug-in fails: {why}: {_MEND}" for name, why in failed.items())


def _refuse_trouble(error: Exception) -> None:
    """Raise again what is the disk's or the gradebook's, and no plug-in's."""
    if isinstance(error, SQLAlchemyError) or (isinstance(error, OSError) and not is_one_files(error)):
        raise error


_MEND = "mend c.AssignLatePenalties.plugin_class in nbgrader_config.py, then grade again: what was graded is kept"


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {in_one_line(error)}"
