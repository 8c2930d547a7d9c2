"""The engine comes to the contract's verdict: what `check` says in a notebook, the engine says too.

Some candidates of one lesson, and all of all lessons at night.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nbproof.authoring.lesson import Candidate, Exercise
from nbproof.marking.blueprint import Rebuilt, read_blueprint
from nbproof.marking.judge import Judge
from nbproof.marking.submission import mark
from nbproof.nbgrader_setup import course_config
from nbproof.sandbox.engine import Engine
from tests import SLUGS, some_by_day, the_lesson
from tests.grading.conftest import limited

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("step", [pytest.param(25, id="some"), pytest.param(1, id="all", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("slug", some_by_day(SLUGS, 6))
def test_candidates_get_the_marks_that_the_contract_promises(slug: str, step: int, engine: Engine) -> None:
    lesson = the_lesson(slug)
    blueprint = read_blueprint(ROOT / "source" / lesson.slug / f"{lesson.slug}.ipynb", course_config(ROOT))
    judge = Judge(blueprint, seed=4)
    chosen = {exercise.id: _chosen(exercise, step) for exercise in lesson.exercises}

    def wrong_verdicts(number: int) -> list[str]:
        """The number-th candidate of each exercise, in one submission."""
        held = {name: ones[number] for name, ones in chosen.items() if number < len(ones)}
        answers = {**blueprint.stubs, **{name: candidate.source for name, candidate in held.items()}}
        verdict = mark(engine, blueprint, judge, Rebuilt(answers), "somebody", {})
        return [
            f"{found.id}/{held[found.id].name}: {found.status}, {found.score:g} marks, {found.sentence}"
            for found in verdict.exercises
            if found.id in held and not _fair(lesson.exercise(found.id), held[found.id], found.score)
        ]

    # The session's engine has short limits, for faults; honest work gets the course's own.
    with limited(engine), ThreadPoolExecutor(2) as pool:
        count = max(map(len, chosen.values()))
        assert [wrong for found in pool.map(wrong_verdicts, range(count)) for wrong in found] == []


def _chosen(exercise: Exercise, step: int) -> list[Candidate]:
    """Every ``step``-th candidate of each role: the reference and the stub are always there."""
    roles = dict.fromkeys(one.role for one in exercise.candidates)
    return [one for role in roles for one in [one for one in exercise.candidates if one.role == role][::step]]


def _fair(exercise: Exercise, candidate: Candidate, score: float) -> bool:
    if candidate.role in ("reference", "accepted"):
        return score == exercise.points
    return score == 0 if candidate.role == "stub" else score < exercise.points
