"""The one writer: verdicts into nbgrader's gradebook, through nbgrader's own API and models."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment
from nbgrader.apps import NbGraderAPI
from nbgrader.utils import parse_utc
from traitlets.config import Config

from course.errors import CourseError
from course.grading.rebuild import Blueprint, read_file
from course.grading.results import SubmissionVerdict

__all__ = ["Writer", "register"]


def register(config: Config, lesson: str) -> None:
    """Put a lesson's cells and points into the gradebook. The release that nbgrader makes on the way is thrown away."""
    with tempfile.TemporaryDirectory() as scratch:
        own = Config(config)
        own.CourseDirectory.release_directory = scratch
        outcome = NbGraderAPI(config=own).generate_assignment(lesson, force=True, create=True)
    if not outcome["success"]:
        log = str(outcome.get("log") or outcome.get("error") or "").strip().splitlines()
        raise CourseError(
            f"nbgrader cannot register {lesson}: {log[-1] if log else 'it gave no reason'}",
            f"source/{lesson}/{lesson}.ipynb",
            f"nbgrader generate_assignment {lesson}",
        )


class Writer:
    """Writes one verdict after another. Where a run is cut off meanwhile, :meth:`holds` tells. Use it as a context manager."""

    def __init__(self, db_url: str, course_id: str) -> None:
        _create_whole(db_url, course_id)
        self._gradebook = Gradebook(db_url, course_id)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self._gradebook.close()

    def lessons(self) -> dict[str, float]:
        """The registered lessons and their marks."""
        return {assignment.name: float(assignment.max_score) for assignment in self._gradebook.assignments}

    def score(self, learner: str, lesson: str) -> float | None:
        """What the gradebook has for this submission, manual marks included; None where it has nothing."""
        try:
            return float(self._gradebook.find_submission(lesson, learner).score)
        except MissingEntry:
            return None

    def holds(self, verdict: SubmissionVerdict) -> bool:
        """Whether every score of this verdict has arrived. nbgrader commits a new submission before its scores, and
        scores that differ are those of an earlier hand-in."""
        try:
            submission = self._gradebook.find_submission(verdict.lesson, verdict.learner)
        except MissingEntry:
            return False
        grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
        return all(
            grade.auto_score == verdict.scores[grade.cell.name] for grade in grades if grade.cell.name in verdict.scores
        )

    def waiting(self, learner: str, lesson: str) -> int:
        """How many written answers of this submission nobody has marked yet."""
        try:
            submission = self._gradebook.find_submission(lesson, learner)
        except MissingEntry:
            return 0
        grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
        return sum(grade.needs_manual_grade and grade.cell.cell_type == "markdown" for grade in grades)

    def write(
        self, verdict: SubmissionVerdict, blueprint: Blueprint, submitted: Path,
        earlier: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Scores and comments of one submission, as nbgrader's SaveAutoGrades sets them, in one transaction.

        ``earlier``: the answers of the hand-in that was graded before. A written answer that a person has marked, and
        that is still the same, does not wait for a person again.
        """
        book = self._gradebook
        try:
            book.find_student(verdict.learner)
        except MissingEntry:
            book.add_student(verdict.learner)
        submission = self._submission(verdict, _timestamp(submitted.parent / "timestamp.txt"))
        scores = verdict.scores
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                if grade.cell.name in scores:
                    grade.auto_score = scores[grade.cell.name]
                    # A mark that a person gave stays, and is to be looked at again.
                    grade.needs_manual_grade = grade.manual_score is not None
                elif grade.cell.name in blueprint.written:
                    text, before = (texts.get(grade.cell.name) for texts in (verdict.answers, earlier or {}))
                    grade.auto_score = None
                    grade.needs_manual_grade = grade.needs_manual_grade or grade.manual_score is None or text != before
            for comment in notebook.comments:
                question = blueprint.written.get(comment.cell.name)
                stub = question.stub if question is not None else blueprint.stubs.get(comment.cell.name)
                if stub is not None:
                    untouched = verdict.answers.get(comment.cell.name, "").strip() in ("", stub.strip())
                    comment.auto_comment = "No response." if untouched else None
        book.db.commit()

    def _submission(self, verdict: SubmissionVerdict, timestamp: str | None) -> SubmittedAssignment:
        book = self._gradebook
        try:
            submission = book.find_submission(verdict.lesson, verdict.learner)
        except MissingEntry:
            return book.add_submission(
                verdict.lesson, verdict.learner, **({"timestamp": timestamp} if timestamp else {})
            )
        if timestamp:
            submission.timestamp = parse_utc(timestamp)
        return submission


def _timestamp(path: Path) -> str | None:
    """When it was handed in, as nbgrader's collecting notes it beside the notebook; None where nothing sensible stands there."""
    try:
        text = read_file(path, 200).decode().strip()
        # Python's calendar ends with the year 9999; time zones must not lead beyond it.
        if not 1970 < parse_utc(text).year < 9000:
            return None
    except Exception:  # dateutil raises whatever its parts raise
        return None
    return text


def _create_whole(db_url: str, course_id: str) -> None:
    """Make a missing SQLite gradebook beside its place and move it there: a run cut off meanwhile leaves none, not half."""
    place = Path(db_url.removeprefix("sqlite:///"))
    if not db_url.startswith("sqlite:///") or place.exists():
        return
    fresh = place.with_name(place.name + ".new")
    fresh.unlink(missing_ok=True)
    Gradebook(f"sqlite:///{fresh}", course_id).close()
    fresh.replace(place)
