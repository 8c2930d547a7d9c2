"""A graded class for the desk, made without grading: a written answer, a task, and an exercise that may be uncertain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes

from nbproof.gradebook.marks import Mark
from nbproof.gradebook.writer import Writer
from nbproof.lesson.from_notebook import marked
from nbproof.marking.blueprint import read_blueprint
from nbproof.marking.results import Verdict, WrittenAnswer
from nbproof.places import course_config
from nbproof.recover.answers import OwnCell
from nbproof.run.journal import answer_digests, note_problems, write_verdict
from nbproof.testing import Rehearsal
from nbproof.values.results import Cause, Finding, Outcome, Reason, Status
from tests import COURSE

LESSON = "01_desk"
ANSWER = """### BEGIN SOLUTION
MODEL-ANSWER
### BEGIN MARK SCHEME
- MARK-SCHEME
### END MARK SCHEME
### END SOLUTION"""
TESTS = {"test_twice": 2.0, "test_twice_more": 1.0}
MOST = {"why": 2.0, "plot": 12.0, "twice": 3.0}
"""Question -> its points."""


def class_of(folder: Path, answers: Mapping[str, str], uncertain: Mapping[str, str] = {}) -> Rehearsal:
    """A class of learners -> what each has written. Some of them have code for ``twice``, which no test could mark."""
    room = Rehearsal(folder, LESSON)
    (folder / "nbgrader_config.py").write_text("c = get_config()\n")
    room.source().parent.mkdir(parents=True)
    room.source().write_text(writes(_lesson()))
    blueprint = read_blueprint(COURSE, room.source(), course_config(folder))
    config = course_config(folder)
    with Writer(f"sqlite:///{folder}/gradebook.db", "course") as writer:
        writer.register(COURSE, config, LESSON, room.source().parent)
        for learner, text in answers.items():
            verdict = _verdict(learner, text, uncertain.get(learner, ""))
            writer.write(verdict, blueprint, room.submitted(learner), answer_digests(verdict), {})
            write_verdict(folder, verdict, b"{}")
    return room


def answer_anew(room: Rehearsal, learner: str, text: str) -> None:
    """A run has marked another hand-in of this learner's."""
    write_verdict(room.root, _verdict(learner, text, ""), b"{}")


def hand_in_no_notebook(room: Rehearsal, learner: str) -> None:
    """A learner has handed in what is no notebook, and a run has said so."""
    path = room.submitted(learner)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"%PDF-1.7 my answers")
    problem = "it is no notebook: hand in the .ipynb file itself"
    note_problems(room.root, [Mark(Verdict(learner, LESSON, problem=problem))])


def _lesson() -> object:
    cells = [
        new_markdown_cell("# Desk\n\n### In your own words: Why **twice**?\n\n5 min · 2 points\n\nSay why: $x^2$."),
        new_markdown_cell(ANSWER, metadata=marked("why", grade=True, solution=True, locked=False, points=2)),
        new_markdown_cell("### Plot it\n\nTASK-TEXT", metadata=marked("plot", task=True, locked=True, points=12)),
        new_markdown_cell("### Exercise: Twice\n\neasy · 5 min · 3 points · `twice`\n\nDouble it."),
        new_code_cell("def twice(x):\n    return 2 * x", metadata=marked("twice", solution=True, locked=False)),
    ]
    for name, points in TESTS.items():
        cells.append(
            new_code_cell("assert twice(1) == 2", metadata=marked(name, grade=True, locked=True, points=points))
        )
    return new_notebook(
        cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
    )


def _verdict(learner: str, text: str, code: str) -> Verdict:
    status = Status.UNCERTAIN if code else Status.PASSED
    given = dict.fromkeys(TESTS, 0.0) if code else dict(TESTS)
    findings = tuple(Finding("Works", "It works.", not code, part=part) for part in TESTS)
    reason = Reason(Cause.LOST, "Its cell is missing.") if code else None
    own = (OwnCell(f"plot of {learner[:1]}", 2, code=False, questions=("plot",)),)
    return Verdict(
        learner,
        LESSON,
        exercises=(Outcome("twice", status, findings, given, dict(TESTS), reason=reason),),
        answers={"why": text, "plot": own[0].source, "twice": code or "def twice(x):\n    return x + x"},
        written=(WrittenAnswer("why", 2.0, bool(text)), WrittenAnswer("plot", 12.0, True)),
        own=own,
        titles={"why": "Why twice?", "plot": "Plot it", "twice": "Twice"},
    )


def marks_in(room: Rehearsal, cell: str) -> dict[str, tuple[float | None, bool]]:
    """Learner -> the points that a person gave for a cell, and whether it waits for one."""
    with room.gradebook() as book:
        grades = {
            one.student.id: book.find_grade(cell, LESSON, LESSON, one.student.id)
            for one in book.assignment_submissions(LESSON)
        }
        return {learner: (one.manual_score, one.needs_manual_grade) for learner, one in grades.items()}


def comments_in(room: Rehearsal, cell: str) -> dict[str, str | None]:
    """Learner -> a person's comment on a cell."""
    with room.gradebook() as book:
        learners = [one.student.id for one in book.assignment_submissions(LESSON)]
        return {one: book.find_comment(cell, LESSON, LESSON, one).manual_comment for one in learners}
