"""Classes made by hand, for tests of the report: every number in them is known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat

from nbproof.marking.results import ExerciseVerdict, Score, SubmissionVerdict, TestVerdict
from nbproof.report.records import (
    ClassExercise,
    ClassLesson,
    ClassRecords,
    Person,
    names_of,
)

LESSON = "01_small"
STUBS = {name: f"def {name}(x):\n    # TODO: work on x\n    pass" for name in ("first", "second", "third")}


Answered = tuple[ExerciseVerdict, str]
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
    tests = [TestVerdict(f"test_{name}", score, points, (), (), told, hint=next(iter(hints), None))]
    tests += [TestVerdict(f"test_{name}_{hint}", 0.0, 0.5, (), (), told, hint=hint) for hint in hints[1:]]
    return ExerciseVerdict(name, status, told, tuple(tests), seconds=0.5), answer or STUBS.get(name, "")


def work(learner: str, outcomes: Sequence[Answered], lesson: str = LESSON, **more: object) -> Score:
    exercises = tuple(one for one, _ in outcomes)
    verdict = SubmissionVerdict(learner, lesson, 1, exercises, {one.id: text for one, text in outcomes}, {})
    return Score(
        learner, lesson, verdict.score, sum(one.max_score for one in exercises), verdict=verdict, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def records(works: Sequence[Score], people: Sequence[Person] = ()) -> ClassRecords:
    """A class of these submissions. Lessons have the exercises that somebody's submission has."""
    slugs = sorted({one.lesson for one in works})
    lessons = []
    for slug in slugs:
        seen = {told.id: told.max_score for one in works if one.lesson == slug for told in one.verdict.exercises}
        exercises = tuple(ClassExercise(name, name.title(), points) for name, points in seen.items())
        given = "\n".join(STUBS.get(name, "") for name in seen)
        lessons.append(ClassLesson(slug, slug, sum(seen.values()), exercises, "", given))
    known = {person.id: person for person in people}
    learners = tuple(known.get(name, Person(name)) for name in sorted({one.learner for one in works} | set(known)))
    return ClassRecords(
        "made", tuple(lessons), learners, {(one.learner, one.lesson): one for one in works}, (), names_of(learners)
    )


def course_on_disk(root: Path, answers: Mapping[str, Mapping[str, str]]) -> Path:
    """A course folder with one lesson, one exercise ``first``, and a journal for each learner: name -> verdict's texts.

    Keys of the inner mapping: ``answer``, ``status``, ``sentence``, ``hint``.
    """
    head = {"schema_version": 3, "task": False}
    cells = [
        nbformat.v4.new_markdown_cell("# Small\n\nMultiply x.", id="intro"),
        nbformat.v4.new_code_cell(
            "def first(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION", id="first",
            metadata={"nbgrader": {**head, "grade": False, "grade_id": "first", "locked": False, "solution": True}},
        ),
        nbformat.v4.new_code_cell(
            "from nbproof.checks.check import Check, check", id="test_first",
            metadata={
                "nbgrader": {
                    **head, "grade": True, "grade_id": "test_first", "locked": True, "solution": False, "points": 2,
                }
            },
        ),
    ]  # fmt: skip
    source = root / "source" / LESSON
    source.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), source / f"{LESSON}.ipynb")
    (root / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'made <b>'\n")
    for learner, told in answers.items():
        status = told.get("status", "passed")
        test = TestVerdict(
            "test_first", 2.0 if status == "passed" else 0.0, 2.0, (), (), told.get("sentence", ""), hint=told.get("hint")
        )  # fmt: skip
        exercise = ExerciseVerdict("first", status, told.get("sentence", ""), (test,), told.get("hint"), 0.1)
        verdict = SubmissionVerdict(learner, LESSON, 1, (exercise,), {"first": told.get("answer", "pass")}, {})
        submitted, graded = root / "submitted" / learner / LESSON, root / "autograded" / learner / LESSON
        submitted.mkdir(parents=True)
        (submitted / f"{LESSON}.ipynb").write_text("{}")
        graded.mkdir(parents=True)
        (graded / ".verdict.json").write_text(json.dumps({"verdict": verdict.as_dict()}))
    return root
