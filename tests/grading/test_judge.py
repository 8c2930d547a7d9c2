"""The judge is bounded: what an answer brings may cost its learner that exercise, and nobody else anything."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nbproof.checks.test_cells import probe_part
from nbproof.marking.blueprint import Blueprint, Rebuilt, read_blueprint
from nbproof.marking.judge import Judge
from nbproof.marking.results import ExerciseVerdict, SubmissionVerdict
from nbproof.marking.submission import mark
from nbproof.nbgrader_setup import course_config
from nbproof.sandbox import judging
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import EngineFailed, JudgeFailed
from nbproof.sandbox.worker_handle import NoRoom
from tests.grading.conftest import LESSON, POINTS, RIGHT

pytestmark = pytest.mark.filterwarnings("ignore")

ROOT = Path(__file__).parent.parent.parent

SPENDS = '''
import time

import torch

from nbproof.checks.check import Check, check
from nbproof.values.compare import Matches


def spends(got):
    {spends}


class Reads(Check):
    """It brings something."""

    cases = 1

    def probe(self, nb, case):
        return {{"result": nb.function("first")(case.tensor("x", 3))}}

    def truth(self, case):
        {truth}


check("first", Reads)
'''

HOW = {
    "memory at once": "return str(len(bytes(10**10)))",
    "memory bit by bit": "kept = []\n    while True: kept.append(bytes(1_000_000))",
    "memory that is asked for again": (
        "kept = []\n    while True:\n        try: kept.append(bytes(1_000))\n        except MemoryError: pass"
    ),
    "time": "while True: pass",
    "time in one call": "return str(sum(range(10**12)))",
    "depth": "return spends(got)",
    "its process": "import os; os._exit(0)",
}


@pytest.fixture(scope="module")
def blueprint(small_lesson: Path) -> Blueprint:
    return read_blueprint(small_lesson / "source" / LESSON / f"{LESSON}.ipynb", course_config(small_lesson))


def _with_test(
    blueprint: Blueprint, spends: str, truth: str = 'return {"result": Matches(spends, "something")}'
) -> Blueprint:
    source = SPENDS.format(spends=spends, truth=truth)
    test = replace(blueprint.tests["test_first"], source=source, probe=probe_part(source), shown=probe_part(source))
    return replace(blueprint, tests={**blueprint.tests, "test_first": test})


def _mark(engine: Engine, blueprint: Blueprint, judge: Judge) -> SubmissionVerdict:
    return mark(engine, blueprint, judge, Rebuilt({**blueprint.stubs, **RIGHT}), "ada", {})


def _by_id(verdict: SubmissionVerdict) -> dict[str, ExerciseVerdict]:
    return {exercise.id: exercise for exercise in verdict.exercises}


@pytest.mark.parametrize("how", HOW)
def test_what_cannot_be_compared_ends_its_exercise_and_nothing_else(
    engine: Engine, blueprint: Blueprint, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "EVIDENCE_SECONDS", 1.0)
    costly = _with_test(blueprint, HOW[how])
    judge = Judge(costly, seed=7)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(2):  # the judge that comes after the one that was ended knows all it has to
        found = _by_id(_mark(engine, costly, judge))
        assert found["first"].status == "failed"
        assert found["first"].score == 0
        assert {name: one.score for name, one in found.items() if name != "first"} == {"second": 1.0, "third": 1.0}
    # Depth is a wrong answer as any that a test of the author's stumbles over; the rest is told as what it is.
    assert ("cannot be compared" in found["first"].sentence) is (how != "depth")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_judge_that_was_ended_leaves_the_marks_of_others(engine: Engine, blueprint: Blueprint) -> None:
    costly, honest = _with_test(blueprint, HOW["memory at once"]), Judge(blueprint, seed=7)
    assert _mark(engine, blueprint, honest).score == sum(POINTS.values())
    _mark(engine, costly, Judge(costly, seed=7))
    engine.judge.end()
    assert _mark(engine, blueprint, honest).score == sum(POINTS.values())


def test_an_error_of_the_instructors_is_no_learners_failure(engine: Engine, blueprint: Blueprint) -> None:
    broken = _with_test(blueprint, "pass", "return 1 / 0")
    with pytest.raises(JudgeFailed, match="test_first: ZeroDivisionError"):
        _mark(engine, broken, Judge(broken, seed=7))


def test_a_truth_that_ends_the_judge_ends_the_run_in_words(engine: Engine, blueprint: Blueprint) -> None:
    broken = _with_test(blueprint, "pass", "import os; os._exit(1)")
    with pytest.raises(EngineFailed, match="the judge's process ended over a truth"):
        _mark(engine, broken, Judge(broken, seed=7))


def test_a_judge_that_finds_no_room_tries_again(
    engine: Engine, blueprint: Blueprint, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.judge.end()
    forked, roles = engine._forked_once, []

    def flaky(role: str, *rest: Any) -> Any:
        roles.append(role)
        if roles == ["judge"]:
            raise NoRoom("a process ended before its first word")
        return forked(role, *rest)

    monkeypatch.setattr(engine, "_forked_once", flaky)
    assert _mark(engine, blueprint, Judge(blueprint, seed=7)).score == sum(POINTS.values())
    assert roles[:2] == ["judge", "judge"]


def test_the_judge_is_as_sealed_as_what_it_judges(engine: Engine, blueprint: Blueprint) -> None:
    looks = 'import os; return f\'{os.listdir("/proc")} {os.path.exists("ROOT")} {os.environ.get("HOME")}\''.replace(
        "ROOT", str(ROOT / "source")
    )
    found = _by_id(_mark(engine, sealed := _with_test(blueprint, looks), Judge(sealed, seed=7)))
    assert "[] False" in found["first"].sentence


@pytest.fixture(scope="module")
def legacy() -> Iterator[Blueprint]:
    (path,) = ROOT.glob("source/03_*/03_*.ipynb")
    yield read_blueprint(path, course_config(ROOT))


def test_an_answer_whose_shapes_multiply_costs_its_learner_that_exercise(engine: Engine, legacy: Blueprint) -> None:
    # It ended the run for a whole class: 240 KB that a check multiplied into 6 GB, in the coordinator.
    answer = "answer = [[torch.tensor([5.]), torch.tensor([1.])], [torch.ones(30_000, 1), torch.ones(1, 30_000)]]"
    answers = {**legacy.stubs, "legacy_autopsy": answer}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = _by_id(mark(engine, legacy, Judge(legacy, seed=7), Rebuilt(answers), "ada", {}))
    assert (found["legacy_autopsy"].status, found["legacy_autopsy"].score) == ("failed", 0)
    assert {one.status for name, one in found.items() if name != "legacy_autopsy"} == {"not answered"}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
