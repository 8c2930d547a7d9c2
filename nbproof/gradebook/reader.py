"""What the gradebook holds of a lesson, for the whole class in two queries."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from nbgrader.api import Assignment, BaseCell, Grade, Gradebook, GradeCell, SubmittedAssignment, SubmittedNotebook
from sqlalchemy.orm import undefer

from nbproof.marking.results import SubmissionVerdict

__all__ = ["Held", "held_in"]


@dataclass(frozen=True)
class Held:
    """One submission as the gradebook has it."""

    scores: dict[str, float | None]
    """Automatic marks by grade_id."""
    total: float
    """Marks given by hand included, the penalty not taken off."""
    penalty: float
    seconds_late: float
    timestamp: datetime | None
    waiting: int
    """Written answers that nobody has marked yet."""

    @property
    def score(self) -> float:
        """As nbgrader exports it."""
        return max(0.0, self.total - self.penalty)

    def agrees_with(self, verdict: SubmissionVerdict) -> bool:
        """Whether every score of the verdict has arrived. nbgrader commits a new submission before its scores."""
        return all(self.scores[name] == score for name, score in verdict.scores.items() if name in self.scores)


def held_in(book: Gradebook, lesson: str) -> dict[str, Held]:
    """Learner -> what is held, for all submissions of a lesson."""
    book.db.expire_all()
    ours = (Assignment.name == lesson, Assignment.course_id == book.course_id)
    scores: dict[str, dict[str, float | None]] = defaultdict(dict)
    waiting: dict[str, int] = defaultdict(int)
    grades = (
        book.db.query(
            SubmittedAssignment.student_id,
            BaseCell.name,
            GradeCell.cell_type,
            Grade.auto_score,
            Grade.needs_manual_grade,
        )
        .select_from(Grade)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .outerjoin(GradeCell.__table__, GradeCell.__table__.c.id == BaseCell.id)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .filter(*ours)
    )
    for learner, name, kind, score, needs in grades:
        scores[learner][name] = score
        waiting[learner] += bool(needs) and (kind == "markdown" or score is None)
    submissions = (
        book.db.query(SubmittedAssignment)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .filter(*ours)
        .populate_existing()
        .options(undefer(SubmittedAssignment.score), undefer(SubmittedAssignment.late_submission_penalty))
    )
    return {
        one.student_id: Held(
            scores[one.student_id], float(one.score or 0), float(one.late_submission_penalty or 0),
            float(one.total_seconds_late), one.timestamp, waiting[one.student_id],
        )
        for one in submissions
    }  # fmt: skip
