"""Classes made by hand, for tests of the report: every number in them is known."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from itertools import zip_longest
from pathlib import Path

from nbgrader.api import Gradebook
from sqlalchemy import Engine, event

from nbproof.gradebook.marks import CellMark, ClassLesson, ClassResults, GradedClass, Lateness, Mark, Person, join_marks
from nbproof.gradebook.registry import create_tables
from nbproof.marking.results import Verdict
from nbproof.testing import small_course
from nbproof.testing.small import LESSON
from nbproof.values.results import Cause, Finding, Outcome, ProbeError, Reason, Status
from tests import COURSE

STUBS = {name: f"def {name}(x):\n    # TODO: work on x\n    pass" for name in ("first", "second", "third")}


@event.listens_for(Engine, "connect")
def _no_wait_for_the_disk(connection: object, record: object) -> None:
    """No test outlives a loss of power: nothing that it commits has to be on the disk."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous = OFF")


Answered = tuple[Outcome, str]
"""How an exercise ended, and its answer."""


def outcome(
    name: str,
    status: str = "passed",
    *,
    points: float = 2.0,
    hints: Sequence[str] = (),
    told: str = "",
    answer: str = "",
) -> Answered:
    score = points if status == "passed" else 0.0
    of = {f"test_{name}": points, **{f"test_{name}_{hint}": 0.5 for hint in hints[1:]}}
    scores = {**dict.fromkeys(of, 0.0), f"test_{name}": score}
    findings = [found(cell, told, hint) for cell, hint in zip_longest(of, hints)]
    if status == "passed":
        findings = [Finding("Check", "", True, part=f"test_{name}")]
    reason = Reason(Cause.LOST, told) if status not in ("passed", "failed") and told else None
    made = Outcome(name, Status(status), tuple(findings), scores, of, seconds=0.5, reason=reason)
    return made, answer or STUBS.get(name, "")


def found(cell: str, told: str = "", hint: str | None = None) -> Finding:
    """A check that failed."""
    return Finding("Check", "", False, part=cell, trouble=ProbeError("", told), hint=hint)


def work(learner: str, outcomes: Sequence[Answered], lesson: str = LESSON, problem: str = "") -> Mark:
    """What tests gave to these exercises."""
    exercises = tuple(one for one, _ in outcomes)
    answers = {one.id: text for one, text in outcomes}
    verdict = Verdict(learner, lesson, 1, exercises, answers, {}, problem=problem)
    return join_marks({(learner, lesson): verdict}, {})[learner, lesson]


def scored(
    learner: str,
    lesson: str = LESSON,
    score: float = 3.0,
    of: float = 4.0,
    *,
    penalty: float = 0.0,
    late: Lateness = Lateness(),  # noqa: B008
    verdict: Verdict | None = None,
    fresh: bool = True,
) -> Mark:
    """A mark of which only the points matter, the penalty taken off."""
    cells = {"test": CellMark("test", of, score + penalty)}
    return Mark(verdict or Verdict(learner, lesson), of, cells, {}, penalty, late, fresh)


def refused(learner: str, lesson: str, why: str, grader_failed: bool = False) -> Mark:
    """What cannot be graded."""
    return Mark(Verdict(learner, lesson, problem=why, grader_failed=grader_failed))


def class_of(given: Sequence[Mark], notes: Sequence[str] = ()) -> GradedClass:
    """What a run has graded."""
    found = {(one.learner, one.lesson): one for one in given}
    return GradedClass(COURSE, found, notes=tuple(notes), seed=7, gradebook="sqlite:///g.db")


def records(works: Sequence[Mark], people: Sequence[Person] = ()) -> ClassResults:
    """A class of these submissions."""
    lessons = []
    for slug in sorted({one.lesson for one in works}):
        lessons.append(ClassLesson(slug, slug, max(one.max_score for one in works if one.lesson == slug)))
    known = {person.id: person for person in people}
    learners = tuple(known.get(name, Person(name)) for name in sorted({one.learner for one in works} | set(known)))
    found = {(one.learner, one.lesson): one for one in works}
    return ClassResults(COURSE, dict(sorted(found.items())), learners, tuple(lessons))


def course_on_disk(root: Path, answers: Mapping[str, Mapping[str, str]]) -> Path:
    """The small course, with a journal on the exercise ``first``, and a gradebook, for each learner: name -> verdict's texts.

    Keys of the inner mapping: ``answer``, ``status``, ``sentence``, ``hint``.
    """
    small_course(root, "c = get_config()\nc.CourseDirectory.course_id = 'made <b>'\n")
    for learner, told in answers.items():
        status = told.get("status", "passed")
        hints = [told["hint"]] if told.get("hint") else []
        exercise, _ = outcome("first", status, hints=hints, told=told.get("sentence", ""))
        verdict = Verdict(learner, LESSON, 1, (exercise,), {"first": told.get("answer", "pass")}, {})
        submitted, graded = root / "submitted" / learner / LESSON, root / "autograded" / learner / LESSON
        submitted.mkdir(parents=True)
        (submitted / f"{LESSON}.ipynb").write_text("{}")
        graded.mkdir(parents=True)
        (graded / ".verdict.json").write_text(json.dumps(asdict(verdict)))
    passed = ((learner, told.get("status", "passed") == "passed") for learner, told in answers.items())
    (root / "gradebook.db").write_bytes(_gradebook(*passed))
    return root


@cache
def _gradebook(*passed: tuple[str, bool]) -> bytes:
    """The file with these learners' marks; nbgrader takes long over each."""
    with tempfile.TemporaryDirectory() as folder:
        create_tables(url := f"sqlite:///{folder}/gradebook.db")
        with Gradebook(url) as book, book.db.no_autoflush:
            book.add_assignment(LESSON)
            book.add_notebook(LESSON, LESSON)
            book.add_grade_cell("test_first", LESSON, LESSON, max_score=2, cell_type="code")
            for learner, is_passed in passed:
                book.update_or_create_student(learner)
                book.add_submission(LESSON, learner)
                grade = book.find_grade("test_first", LESSON, LESSON, learner)
                grade.auto_score = 2.0 * is_passed
            book.db.commit()
        return Path(folder, "gradebook.db").read_bytes()
