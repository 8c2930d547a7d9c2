"""What a learner's code does ends in a status and a sentence, the same as `check` says; the other exercises keep their marks."""

from __future__ import annotations

import ast
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from nbproof.errors import UsageError
from nbproof.lesson.check_cell import checks_in, probe_in
from nbproof.lesson.lesson import Candidate, Exercise
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import read_blueprint
from nbproof.marking.judge_client import Judge
from nbproof.marking.marker import mark
from nbproof.places import course_config
from nbproof.recover.answers import Answers, OwnCell
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.judging import JudgeProcess
from nbproof.testing import Bench
from nbproof.testing.small import LESSON, POINTS, RIGHT
from nbproof.values.words import ENGLISH
from tests import COURSE, SLUGS, some_by_day, the_lesson, the_lessons
from tests.warm import limited


def test_right_answers_earn_all_marks(bench: Bench) -> None:
    verdict = bench.mark()
    assert verdict.score == sum(POINTS.values()) == sum(cell.points for cell in bench.blueprint.cells)
    assert {exercise.status for exercise in verdict.exercises} == {"passed"}


def test_the_untouched_notebook_earns_none(bench: Bench) -> None:
    verdict = replace(bench, given={}).mark()
    assert verdict.score == 0
    assert {exercise.status for exercise in verdict.exercises} == {"not answered"}


def test_a_learners_code_computes_with_the_judges_instructions(bench: Bench) -> None:
    # Other vector instructions round otherwise: right answers then fail on some seeds.
    asked = "import torch\nprint(torch.backends.cpu.get_cpu_capability())"
    (output,) = bench.mark({"first": asked}).runs["first"].outputs
    assert output["text"].strip() == torch.backends.cpu.get_cpu_capability()


FAULTS = {
    "wrong value": ("def second(x):\n    return x", "failed", "result is tensor"),
    "raises": ("def second(x):\n    return x.oops", "error", "oops"),
    "undefined": ("third_party = 1", "failed", "`second` is not defined"),
    "loop in the check": ("def second(x):\n    while True:\n        pass", "timeout", "4 seconds"),
    "exits": ("import os\nos._exit(3)", "killed", "status 3"),
    "segfault": ("import ctypes\nctypes.string_at(0)", "killed", "SIGSEGV"),
    "bytes bomb": ("b = bytearray(4 << 30)", "out of memory", "512 MB"),
    "family bomb": (
        "import os, time\nfor _ in range(6):\n    if os.fork() == 0:\n        b = bytearray(b'x') * (200 << 20)\n"
        "        time.sleep(60)\ntime.sleep(60)", "out of memory", "512 MB",
    ),
    "deep": ("x = 1" + " + 1" * 20_000, "error", "RecursionError"),
    "blank lines": (RIGHT["second"] + "\n%time 1" + "\n\t" * 20_000, "error", "its 20,0"),
    "closes everything": ("import os\nos.closerange(0, 1000)", "killed", "ended the"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_and_costs_only_its_own_exercise(bench: Bench, name: str) -> None:
    answer, status, word = FAULTS[name]
    verdict = bench.mark({"second": answer})
    first, second, third = verdict.exercises
    assert (second.status, second.score) == (status, 0), ENGLISH.outcome(second)
    assert word in ENGLISH.outcome(second)
    assert (first.status, third.status) == ("passed", "passed")
    assert verdict.score == POINTS["first"] + POINTS["third"]


def test_a_child_that_runs_on_out_of_its_cell_answers_nothing(bench: Bench) -> None:
    forks = "import os\nfor _ in range(3):\n    os.fork()\n"
    slow = "import time\ntime.sleep(0.2)\n"
    verdict = bench.mark({"first": forks + RIGHT["first"], "second": slow + RIGHT["second"]})
    assert [exercise.status for exercise in verdict.exercises] == ["passed"] * 3


def test_a_time_bomb_costs_the_exercise_it_hits_and_no_other(bench: Bench) -> None:
    bomb = RIGHT["first"] + "\nimport os, threading\nthreading.Timer(0.5, os._exit, [1]).start()"
    slow = "import time\ntime.sleep(1)\n" + RIGHT["second"]
    verdict = bench.mark({"first": bomb, "second": slow, "third": RIGHT["third"]})
    assert [exercise.status for exercise in verdict.exercises] == ["passed", "killed", "passed"]


@pytest.mark.parametrize(("lesson", "status"), [(LESSON, "timeout"), ("another", "passed")])
def test_a_lesson_may_have_limits_of_its_own(bench: Bench, lesson: str, status: str) -> None:
    slow = "import time\ntime.sleep(2.5)\n" + RIGHT["second"]
    with limited(bench.engine, exercise_seconds=30, memory_mb=512, of_lesson={lesson: {"exercise_seconds": 1.5}}):
        verdict = bench.mark({"second": slow})
    second = verdict.exercises[1]
    assert second.status == status
    assert ("1.5 seconds" in ENGLISH.outcome(second)) == (status == "timeout")


@pytest.mark.parametrize("own", [{"memory": 4096}, {"memory_mb": "much"}, {"memory_mb": 1}, 7])
def test_limits_that_are_none_are_named(own: object) -> None:
    with pytest.raises(UsageError, match="the limits of 06 cannot be used"):
        GradingLimits(of_lesson={"06": own}).for_lesson("06")


def test_the_whole_submission_has_a_limit_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        bench.engine, "limits", GradingLimits(exercise_seconds=600, submission_seconds=3.0, memory_mb=512)
    )
    verdict = bench.mark(dict.fromkeys(POINTS, "while True:\n    pass"))
    assert verdict.score == 0
    assert {exercise.status for exercise in verdict.exercises} == {"timeout"}


def test_outputs_are_those_of_a_notebook(bench: Bench) -> None:
    noisy = (
        "import sys, warnings\nprint('hello')\nprint('careful', file=sys.stderr)\nwarnings.warn('deprecated')\n"
        "!echo shell\nimport matplotlib.pyplot as plt\n%matplotlib inline\nplt.plot([1, 2]); plt.show()\n"
        "import asyncio\nawait asyncio.sleep(0)\n" + RIGHT["first"] + "\n41 + 1"
    )
    verdict = bench.mark({"first": noisy, "second": "input('name? ')\n" + RIGHT["second"]})
    outputs = verdict.runs["first"].outputs
    stdout = "".join(one["text"] for one in outputs if one.get("name") == "stdout")
    stderr = "".join(one["text"] for one in outputs if one.get("name") == "stderr")
    assert stdout == "hello\nshell\n"
    assert "careful" in stderr
    assert "UserWarning: deprecated" in stderr
    assert [one["data"]["text/plain"] for one in outputs if one["output_type"] == "execute_result"] == ["42"]
    assert any("image/png" in one.get("data", {}) for one in outputs)
    assert verdict.exercises[0].status == "passed"
    error = verdict.runs["second"].outputs[-1]
    assert error["ename"] == "StdinNotImplementedError"
    assert verdict.exercises[1].status == "error"
    assert verdict.exercises[2].status == "passed"


def test_own_files_are_there_read_only_and_take_nobodys_place(bench: Bench) -> None:
    files = {"data/numbers.txt": b"42", "torch.py": b"raise SystemExit('hijacked')", "mine.py": b"FACTOR = 2"}
    answer = "import mine, torch\ntext = open('data/numbers.txt').read()\nprint(text)\ndef first(x):\n    return x * mine.FACTOR"
    verdict = bench.mark({"first": answer}, files=files)
    assert verdict.exercises[0].status == "passed"
    assert verdict.runs["first"].outputs[0]["text"] == "42\n"


def test_check_and_hint_say_that_nothing_is_shown_while_grading(bench: Bench) -> None:
    asks = 'from nbproof import check, hint\ncheck("first")\nhint()'
    (output,) = bench.mark({"first": f"{RIGHT['first']}\n{asks}"}).runs["first"].outputs
    assert output["text"] == "the check of first: not shown while grading\nhint(): not shown while grading\n"


def test_a_truth_is_computed_once_for_a_class(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str, int]] = []
    ask = JudgeProcess.ask

    def noting(self: JudgeProcess, header: dict[str, Any], *rest: Any, **more: Any) -> dict[str, Any]:
        if header["op"] == "truth":
            asked.append((header["test"], header["check"], header["seed"]))
        return ask(self, header, *rest, **more)

    monkeypatch.setattr(JudgeProcess, "ask", noting)
    blueprint, judge = bench.blueprint, Judge(bench.blueprint, 7, bench.engine.judge)
    for learner in ("ada", "bob"):
        mark(bench.engine, blueprint, judge, Answers({**blueprint.stubs, **RIGHT}), learner, {})
    assert sorted(asked) == sorted((test, *one) for test in blueprint.tests for one in judge.plan(test))


def test_output_is_cut_off(bench: Bench) -> None:
    verdict = bench.mark({"first": "print('x' * 50_000_000)\n" + RIGHT["first"]})
    (output,) = verdict.runs["first"].outputs
    assert len(output["text"]) < 1_100_000
    assert "cut off" in output["text"]
    assert verdict.exercises[0].status == "passed"


CELL = """
from nbproof.checks.check import Check, check
SHAPE, WANTED = (2, 3), 42
def used_by_truth():
    return WANTED
class First(Check):
    'What is asked, which may tell too much.'
    def probe(self, nb, case):
        return self.helper(case.tensor("x", *SHAPE))
    def helper(self, x):
        return x * 2
    def truth(self, case):
        return used_by_truth()
check("exercise", First)
"""


def test_only_what_a_probe_uses_is_left() -> None:
    probe = probe_in(CELL)
    assert checks_in(CELL) == ("First",)
    assert [word for word in ("truth", "used_by_truth", "too much") if word in probe] == []
    assert all(word in probe for word in ("SHAPE", "helper", "class First"))


@pytest.mark.slow
def test_no_truth_of_a_lesson_goes_to_the_worker() -> None:
    cells = [cell for lesson in the_lessons() for exercise in lesson.exercises for cell in exercise.tests]
    assert len(cells) > 50
    wrong = {}
    for cell in cells:
        probe, checks = probe_in(cell.source), checks_in(cell.source)
        nodes = [one for one in ast.walk(ast.parse(probe)) if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
        names = {node.name for node in nodes}
        if names & {"truth", "mistakes"} or not checks or not set(checks) <= names:
            wrong[cell.grade_id] = sorted(names)
        exec(compile(probe, cell.grade_id, "exec"), {"__name__": "half"})
    assert wrong == {}


ROOT = Path(__file__).parent.parent.parent


@pytest.mark.slow
@pytest.mark.parametrize("step", [pytest.param(25, id="some"), pytest.param(1, id="all", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("slug", some_by_day(SLUGS, 6))
def test_candidates_get_the_marks_that_the_contract_promises(slug: str, step: int, engine: Engine) -> None:
    lesson = the_lesson(slug)
    blueprint = read_blueprint(COURSE, ROOT / "source" / lesson.slug / f"{lesson.slug}.ipynb", course_config(ROOT))
    judge = Judge(blueprint, 4, engine.judge)
    chosen = {exercise.id: _chosen(exercise, step) for exercise in lesson.exercises}

    def wrong_verdicts(number: int) -> list[str]:
        """The number-th candidate of each exercise, in one submission."""
        held = {name: ones[number] for name, ones in chosen.items() if number < len(ones)}
        answers = {**blueprint.stubs, **{name: candidate.source for name, candidate in held.items()}}
        verdict = mark(engine, blueprint, judge, Answers(answers), "somebody", {})
        return [
            f"{found.id}/{held[found.id].name}: {found.status}, {found.score:g} marks, {ENGLISH.outcome(found)}"
            for found in verdict.exercises
            if found.id in held and not _fair(lesson.exercise(found.id), held[found.id], found.score)
        ]

    # The session's engine has short limits, for faults; honest work gets the course's own.
    with limited(engine), ThreadPoolExecutor(2) as pool:
        count = max(map(len, chosen.values()))
        assert [wrong for found in pool.map(wrong_verdicts, range(count)) for wrong in found] == []


@pytest.mark.slow
def test_right_answers_get_the_points_of_all_parts(engine: Engine) -> None:
    exercise = the_lesson("06_capstones").exercise("gradient_flow_debugger")
    blueprint = read_blueprint(COURSE, ROOT / "source" / "06_capstones" / "06_capstones.ipynb", course_config(ROOT))
    judge, got = Judge(blueprint, 4, engine.judge), dict[str, float]()
    right = [one for one in exercise.candidates if one.role in ("reference", "accepted")]
    with limited(engine):
        for one in right:
            verdict = mark(engine, blueprint, judge, Answers({**blueprint.stubs, exercise.id: one.source}), "ada", {})
            got[one.name] = next(found.score for found in verdict.exercises if found.id == exercise.id)
    assert got == {one.name: exercise.points for one in right} and len(exercise.tests) == 2


LEFT_ON = [
    ("02_tensor_hooks", 0, "torch.set_default_dtype(torch.float64)"),
    ("02_tensor_hooks", 0, "torch.autocast('cpu').__enter__()"),
    ("02_tensor_hooks", 40, "mode = torch.inference_mode(); mode.__enter__()"),
    ("04_apply", 0, "torch.set_default_tensor_type(torch.DoubleTensor)"),
    *(
        pytest.param(slug, 0, "torch.set_default_dtype(torch.float64)", marks=pytest.mark.nightly)
        for slug in SLUGS
        if slug not in ("02_tensor_hooks", "04_apply")
    ),
]
"""Lesson, where a learner switches what on."""


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "after", "setting"), LEFT_ON)
def test_what_is_left_on_among_the_answers_costs_no_marks(slug: str, after: int, setting: str, engine: Engine) -> None:
    blueprint = read_blueprint(COURSE, ROOT / "source" / slug / f"{slug}.ipynb", course_config(ROOT))
    right = {one.id: one.candidates[0].source for one in the_lesson(slug).exercises}
    with limited(engine):
        verdict = Bench(engine, blueprint, right).mark({}, OwnCell(f"import torch\n{setting}", after))
    assert {one.id for one in verdict.exercises if one.status != "passed"} == set()


def _chosen(exercise: Exercise, step: int) -> list[Candidate]:
    """Every ``step``-th candidate of each role: the reference and the stub are always there."""
    roles = dict.fromkeys(one.role for one in exercise.candidates)
    return [one for role in roles for one in [one for one in exercise.candidates if one.role == role][::step]]


def _fair(exercise: Exercise, candidate: Candidate, score: float) -> bool:
    if candidate.role in ("reference", "accepted"):
        return score == exercise.points
    return score == 0 if candidate.role == "stub" else score < exercise.points
