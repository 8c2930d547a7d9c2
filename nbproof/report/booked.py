"""What the gradebook adds to a class's records: marks of people, penalties, how late, names, due dates."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from nbproof.command import course_command
from nbproof.report.records import LearnerWork, Person

__all__ = ["with_gradebook"]


def with_gradebook(
    config: Any, lessons: list[str], works: dict[tuple[str, str], LearnerWork]
) -> tuple[dict[str, Person], dict[tuple[str, str], LearnerWork], dict[str, str], list[str]]:
    """Scores, penalties, names and due dates from the gradebook, through nbgrader's API; a note where it has none."""
    from nbgrader.api import Gradebook
    from nbgrader.api import SubmittedAssignment as Table
    from nbgrader.apps import NbGraderAPI

    coursedir = NbGraderAPI(config=config).coursedir
    people = {learner: Person(learner) for learner, _ in works}
    due: dict[str, str] = {}
    works = dict(works)
    place = Path(coursedir.db_url.removeprefix("sqlite:///"))
    if coursedir.db_url.startswith("sqlite:///") and not place.is_file():
        return people, works, due, ["there is no gradebook: manual marks and late penalties are not in this report"]
    try:
        with Gradebook(coursedir.db_url, coursedir.course_id) as book:
            for student in book.student_dicts():
                rest = [str(student.get(key) or "") for key in ("first_name", "last_name", "email", "lms_user_id")]
                people[student["id"]] = Person(student["id"], *rest)
            for assignment in book.assignments:
                if assignment.name not in lessons:
                    continue
                due[assignment.name] = "" if assignment.duedate is None else f"{assignment.duedate:%Y-%m-%d %H:%M} UTC"
                # In bulk: each score that is asked of a submission by itself is a query of its own.
                scores = {one["student"]: float(one["score"]) for one in book.submission_dicts(assignment.name)}
                submissions = (
                    book.db.query(
                        Table.student_id,
                        Table.needs_manual_grade,
                        Table.late_submission_penalty,
                        Table.timestamp,
                        Table.extension,
                    )
                    .filter(Table.assignment_id == assignment.id)
                    .all()
                )
                for learner, manual, late, came, extension in submissions:
                    key = (learner, assignment.name)
                    work = works.get(key, LearnerWork(*key))
                    if learner not in scores or (work.problem and not work.waits):
                        continue
                    penalty = float(late or 0.0)
                    until = assignment.duedate and assignment.duedate + (extension or timedelta())
                    seconds = (came - until).total_seconds() if came and until else 0.0
                    works[key] = replace(
                        work, seconds_late=max(0.0, seconds), score=max(0.0, scores[learner] - penalty),
                        max_score=float(assignment.max_score),
                        penalty=penalty, pending=bool(manual), problem="", waits=False,
                    )  # fmt: skip
    except Exception as error:  # SQLAlchemy, its drivers, alembic: each has a tree of its own, and some print passwords
        return people, works, {}, [
            f"the gradebook cannot be read ({type(error).__name__}): "
            f"manual marks and late penalties are not in this report; {course_command('grade')} says what to do"
        ]  # fmt: skip
    return people, works, due, []
