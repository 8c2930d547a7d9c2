"""What the gradebook adds to a class's records: marks of people, penalties, how late, names, due dates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nbproof.command import course_command
from nbproof.gradebook.reader import marks_in, opened_gradebook
from nbproof.marking.results import Score
from nbproof.report.records import Person, people_in

__all__ = ["with_gradebook"]


def with_gradebook(
    root: Path, lessons: list[str], works: dict[tuple[str, str], Score]
) -> tuple[dict[str, Person], dict[tuple[str, str], Score], dict[str, str], list[str]]:
    """Scores, penalties, names and due dates from the gradebook; a note where it has none."""
    people = {learner: Person(learner) for learner, _ in works}
    due: dict[str, str] = {}
    works = dict(works)
    missing = "manual marks and late penalties are not in this report"
    try:
        with opened_gradebook(root) as book:
            if book is None:
                return people, works, due, [f"there is no gradebook: {missing}"]
            people |= {one.id: one for one in people_in(book)}
            for assignment in book.assignments:
                if assignment.name not in lessons:
                    continue
                due[assignment.name] = "" if assignment.duedate is None else f"{assignment.duedate:%Y-%m-%d %H:%M} UTC"
                for learner, marks in marks_in(book, assignment.name).items():
                    work = works.get((learner, assignment.name), Score(learner, assignment.name))
                    if not work.problem or work.waits:
                        works[learner, assignment.name] = replace(
                            work, score=marks.score, max_score=marks.max_score, penalty=marks.penalty,
                            pending=marks.pending, seconds_late=marks.seconds_late, problem="", waits=False,
                        )  # fmt: skip
    except Exception as error:  # SQLAlchemy, its drivers, alembic: each has a tree of its own, and some print passwords
        return people, works, {}, [
            f"the gradebook cannot be read ({type(error).__name__}): {missing}; {course_command('grade')} says what to do"
        ]  # fmt: skip
    return people, works, due, []
