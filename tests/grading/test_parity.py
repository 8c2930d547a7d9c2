"""The engine comes to the contract's verdict on every candidate: what `check` says in a notebook, the engine says too."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from course.authoring.lesson import Candidate, Exercise, find_lessons, read_lesson
from course.grading.engine import Engine
from course.grading.judge import Judge
from course.grading.marking import mark
from course.grading.rebuild import Rebuilt, read_blueprint
from course.limits import GradingLimits
from course.nbgrader_setup import course_config

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("folder", find_lessons(ROOT), ids=lambda folder: folder.name)
def test_every_candidate_gets_the_marks_that_the_contract_promises(folder: Path, engine: Engine) -> None:
    lesson = read_lesson(folder)
    blueprint = read_blueprint(ROOT / "source" / lesson.slug / f"{lesson.slug}.ipynb", course_config(ROOT))
    judge = Judge(blueprint, seed=4)

    def wrong_verdict(job: tuple[Exercise, Candidate]) -> str:
        exercise, candidate = job
        answers = {**blueprint.stubs, exercise.id: candidate.source}
        verdict = mark(engine, blueprint, judge, Rebuilt(answers), "somebody", {})
        (found,) = [one for one in verdict.exercises if one.id == exercise.id]
        others = verdict.score - found.score
        right = candidate.role in ("reference", "accepted")
        fair = found.score == exercise.points if right else found.score < exercise.points
        nothing = candidate.role != "stub" or found.score == 0
        return (
            ""
            if fair and nothing and others == 0
            else f"{exercise.id}/{candidate.name}: {found.status}, {found.sentence}"
        )

    jobs = [(exercise, candidate) for exercise in lesson.exercises for candidate in exercise.candidates]
    # The session's engine has short limits, for faults; honest work gets the course's own.
    before, engine.limits = engine.limits, GradingLimits()
    try:
        with ThreadPoolExecutor(2) as pool:
            assert [wrong for wrong in pool.map(wrong_verdict, jobs) if wrong] == []
    finally:
        engine.limits = before
