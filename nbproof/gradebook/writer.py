"""The one writer of the gradebook: tables, lessons, verdicts and late penalties, through nbgrader's own API."""

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

__all__ = ["Penalties", "Writer", "in_gradebook"]


class Writer(Gradebook):  # type: ignore[misc]
    """nbgrader's gradebook, for one verdict after another. Use it as a context manager."""

    def __init__(self, db_url: str, course_id: str, late: Collection[Key] = (), zone: str = "UTC") -> None:
        """Open the gradebook at ``db_url``, and make it if it is missing.

        ``late``: the keys of what an LMS calls late without saying when it was handed in. ``zone``: the time zone of times in
        ``timestamp.txt`` that have none.
        """
        self.db_url = db_url
        self.late = frozenset(late)
        self.zone = zone
        _create_whole(db_url)
        create_tables(db_url)
        super().__init__(db_url, course_id)

    def number(self, number: int) -> None:
        """Number this state of the gradebook, so that an earlier copy, or another folder's, is known as one. A database that is
        no file has no place for the number.
        """
        if self.db.bind.dialect.name == "sqlite":
            self.db.execute(text(f"PRAGMA user_version = {number}"))
            self.db.commit()

    def register(self, course: Course, config: Config, assignment: str, folder: Path) -> str:
        """Put an assignment's cells and points into the gradebook: :func:`nbproof.gradebook.registry.follow`.

        Raises CourseError if nbgrader or the database does not take them.
        """
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
        """The time when it was handed in, as ``timestamp.txt`` says. If an LMS says only that it was late, it was a second late.

        ``before``: the time in the gradebook. It stays if nothing says another one; a time that cannot be read leaves none. A
        learner who had such a second, and has handed in again since, came when it was due.
        """
        try:
            time = time_in(_stamp(learner, lesson, submitted), self.zone)
        except ValueError:
            time = before = None
        due = self.find_assignment(assignment_of(lesson)).duedate
        if time is not None:
            return in_gradebook(time, due)
        if (learner, lesson) in self.late:
            return _second_after(due)
        return due if due is not None and before == _second_after(due) else before

    def end_minutes(self) -> None:
        """Have a due date of 23:59, as formgrader sets it, end with that minute."""
        for one in self.assignments:
            if one.duedate is not None and (one.duedate.minute, one.duedate.second) == (59, 0):
                one.duedate = one.duedate.replace(second=59)
        self.db.commit()

    def follow_due(self) -> None:
        """Date all that an LMS calls late, without saying when it came, a second after the present due date."""
        for learner, lesson in self.late:
            with contextlib.suppress(MissingEntry):
                submission = self.find_submission(assignment_of(lesson), learner)
                submission.timestamp = _second_after(submission.assignment.duedate)
        self.db.commit()

    def set_due(self, lesson: str, when: datetime | None) -> None:
        """Set or take away the class's due date. A learner with a later one of their own keeps it; other extensions end."""
        extensions = due_dates_in(self).extensions
        self.update_or_create_assignment(lesson, duedate=when)
        for (learner, name), until in extensions.items():
            if name == lesson:
                kept = until if when is not None and until > when else None
                self.extend(lesson, learner, kept)

    def extend(self, lesson: str, learner: str, until: datetime | None) -> None:
        """Set one learner's own due date of a registered lesson, later than the class's; None takes it away.

        nbgrader keeps an extension with the submission, so an empty one is made if nothing was handed in yet.
        """
        empty = Key(learner, lesson) not in marks_in(self, lesson)
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
        is_another: bool = False,
    ) -> set[str]:
        """Write scores and comments of one submission, as nbgrader's SaveAutoGrades sets them, in one transaction. Returns the
        cells that wait for a person.

        ``answers``: digests of the answers. ``earlier``: digests of the answers that were graded before. An answer that a person
        has marked, and that is still the same, does not wait for a person again. ``waited``: the cells that waited then, if
        another program has graded since. ``is_another``: whether it is another hand-in than the one before: that one's
        time is not its own.
        """
        try:
            return self._write(verdict, blueprint, submitted, answers, earlier, waited, is_another)
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
        is_another: bool,
    ) -> set[str]:
        self.update_or_create_student(verdict.learner)
        submission = self.update_or_create_submission(assignment_of(verdict.lesson), verdict.learner)
        if is_another:
            submission.timestamp = None
        submission.timestamp = self._handed_in(verdict.learner, verdict.lesson, submitted, submission.timestamp)
        mine = [one.id for one in submission.notebooks if one.name == notebook_of(verdict.lesson)]
        # Comments first, as SQLAlchemy orders what is written at once: who locks rows in one order never waits in a circle.
        for comment, name in self._named(Comment, mine):
            _set_comment(comment, name, verdict, blueprint)
        grades = self._named(Grade, mine)
        changed = {name for name in answers.keys() | earlier.keys() if answers.get(name) != earlier.get(name)}
        for grade, name in grades:
            if waited is not None and is_by_person(grade):
                grade.needs_manual_grade = name in waited
            _set_grade(grade, name, verdict, blueprint, changed)
        waits = {name for grade, name in grades if grade.needs_manual_grade}
        self.db.commit()
        return waits

    def write_absent(self, key: Key) -> None:
        """Have a notebook that was not handed in count 0, and wait for no person, as in nbgrader; a person's marks stay."""
        with contextlib.suppress(MissingEntry):
            found = self.find_submission_notebook(notebook_of(key.lesson), key.assignment, key.learner)
            for grade in found.grades:
                if grade.manual_score is None:
                    grade.auto_score = 0.0
                    grade.needs_manual_grade = False
        self.db.commit()

    def _named(self, kind: type[Grade | Comment], notebooks: Sequence[str]) -> list[Any]:
        """The rows of these notebooks, each with its cell's grade_id, by one query: nbgrader's objects would ask once a cell."""
        query = self.db.query(kind, BaseCell.name).join(BaseCell, BaseCell.id == kind.cell_id)
        return list(query.filter(kind.notebook_id.in_(notebooks)))


def in_gradebook(time: datetime, due: datetime | None) -> datetime:
    """The time of a hand-in as the gradebook has it."""
    time = time.replace(tzinfo=None)
    # The last second of a due date is on time, to its end; a due date in the middle of one is meant to be.
    return time if due is not None and due.microsecond else time.replace(microsecond=0)


def _second_after(due: datetime | None) -> datetime | None:
    return None if due is None else due + timedelta(seconds=1)


def _set_grade(grade: Grade, name: str, verdict: Verdict, blueprint: Blueprint, changed: Collection[str]) -> None:
    """Set the score of one cell, and whether it waits for a person. ``changed``: the answers that are other ones than before."""
    if name in verdict.scores:
        asked = next((one for one in verdict.exercises if name in one.most), None)
        answer = name if asked is None else asked.id
        is_another = grade.auto_score != verdict.scores[name] or answer in changed
        grade.auto_score = verdict.scores[name]
        if is_by_person(grade):
            # The mark stays. A person looks at it again if the answer is another one, or ended otherwise.
            grade.needs_manual_grade |= is_another
        else:
            grade.needs_manual_grade = asked is not None and asked.status is Status.UNCERTAIN
    elif name in blueprint.written:
        grade.auto_score = None
        grade.needs_manual_grade |= grade.manual_score is None or name in changed


def _set_comment(comment: Comment, name: str, verdict: Verdict, blueprint: Blueprint) -> None:
    """Set nbgrader's own comment on one cell: whether it has an answer."""
    asked = blueprint.written.get(name)
    stub = blueprint.stubs.get(name) if asked is None else asked.stub
    if stub is not None:
        is_untouched = verdict.answers.get(name, stub).strip() == stub.strip()
        comment.auto_comment = "No response." if is_untouched else None


def _stamp(learner: str, lesson: str, submitted: Path) -> Path:
    """The file with the time, in ``submitted/<learner>/<lesson>``, where the exchange and `collect` write it.

    A deeper one may have come from a learner.
    """
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
    """Late penalties, set by the preprocessor that nbgrader would run here, with the plug-in that nbgrader_config.py names.
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
                f"the late-penalty plug-in fails: {_in_one_line(error)}", str(root / "nbgrader_config.py"), _MEND
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
            resources = {"assignment": assignment, "student": learner, "db_url": self._db_url}
            try:
                for name in (notebook_of(one) for one in lessons if assignment_of(one) == assignment):
                    self._preprocessor.preprocess(
                        nbformat.v4.new_notebook(), {"nbgrader": {**resources, "notebook": name}}
                    )
            except Exception as error:  # an instructor's own code
                _refuse_trouble(error)
                failed.setdefault(assignment, f"{_in_one_line(error)} (for {printable(learner)})")
        return tuple(f"{name}: the late-penalty plug-in fails: {why}: {_MEND}" for name, why in failed.items())

    def of(self, key: Key, points: float, seconds: float) -> float:
        """The penalty of a hand-in with these points, so many ``seconds`` late, as nbgrader sets it; 0 if the plug-in fails."""
        if self._preprocessor is None or seconds <= 0:
            return 0.0
        try:
            self._preprocessor.init_plugin()
            penalty = self._preprocessor.plugin_inst.late_submission_penalty(key.learner, points, seconds)
        except Exception as error:  # an instructor's own code
            _refuse_trouble(error)
            return 0.0
        return min(max(0.0, penalty or 0.0), points)


def _refuse_trouble(error: Exception) -> None:
    """Raise an error of the disk or the gradebook again, because it is none of the plug-in."""
    if isinstance(error, SQLAlchemyError) or (isinstance(error, OSError) and not is_one_files(error)):
        raise error


_MEND = "mend c.AssignLatePenalties.plugin_class in nbgrader_config.py, then grade again: what was graded is kept"


def _in_one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {in_one_line(error)}"
