"""Trials: each in a process of its own. And a simulated class, which hands in released notebooks with TODO cells filled."""

from __future__ import annotations

from pathlib import Path

import nbformat
import psutil
import pytest

from nbproof.authoring.forks import run_trials
from nbproof.authoring.simulate import LEARNERS, as_handed_in, simulate_class
from nbproof.authoring.trial import Trial, Tried
from nbproof.lesson.from_text import read_lesson
from tests import COURSE
from tests.authoring.tiny import ANSWER, TEST, cell_of

SETUP = ("import os, sys, torch\nfrom course.models import Add",)
TEST_CELL = cell_of("test_catch", TEST.replace("NAME", "catch"))
WRITES = "import os\nprint('a word', file=__import__('sys').stderr)\nos.nothing"

TRIALS = {
    "cell_raises": Trial(COURSE, "thing = 1", SETUP, (cell_of("test_catch", TEST_CELL.source + "\nthing.nothing\n"),)),
    "dies": Trial(COURSE, "import os; os._exit(0)", (), ()),
    "setup_dies": Trial(COURSE, ANSWER, ("import os; os._exit(3)",), (TEST_CELL,)),
    "setup_never_ends": Trial(COURSE, ANSWER, ("while True: pass",), (TEST_CELL,), limit=1.0),
    "setup_raises": Trial(COURSE, "x = 1", (WRITES,), ()),
}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Tried]:
    return {list(TRIALS)[index]: outcome for index, outcome in run_trials(list(TRIALS.values()))}


@pytest.mark.slow
def test_what_raises_or_dies_is_told_with_each_trial_that_meets_it(outcomes: dict[str, Tried]) -> None:
    raised = outcomes["cell_raises"]
    assert "test_catch/the cell raises" in raised.failing(0), "as under stock nbgrader"
    trouble = raised.findings[0]["test_catch"][-1].trouble
    assert trouble and trouble.message == "test_catch: AttributeError: 'int' object has no attribute 'nothing'"
    assert outcomes["setup_dies"].ended == outcomes["setup_never_ends"].ended == "died"
    assert outcomes["setup_raises"].errors[0].startswith("setup cell 0: AttributeError")
    assert outcomes["setup_raises"].stderr.startswith("a word")


@pytest.mark.slow
def test_leaving_early_ends_what_still_runs(outcomes: dict[str, Tried]) -> None:
    before = _running()  # the process that forks stays
    trials = run_trials([TRIALS["dies"], Trial(COURSE, "while True: pass", (), (), limit=600.0)])
    assert next(trials)[1].ended == "died"
    trials.close()
    assert _running() <= before


def _running() -> set[int]:
    alive = [one for one in psutil.Process().children(recursive=True) if one.is_running()]
    return {one.pid for one in alive if one.status() != psutil.STATUS_ZOMBIE}


def test_skill_and_effort_decide_what_is_handed_in(course: Path) -> None:
    (exercise,) = read_lesson(COURSE, course / "lessons" / "00_tiny").exercises
    roles = {as_handed_in(one): one.role for one in exercise.candidates}
    assert not any(word in text for text in roles for word in ("misconception:", "breaks:"))
    written = simulate_class(COURSE, course, ["00_tiny"])
    assert written == [course / "submitted" / one.name / "00_tiny/00_tiny.ipynb" for one in LEARNERS]
    first = [path.read_bytes() for path in written]
    assert [path.read_bytes() for path in simulate_class(COURSE, course, ["00_tiny"])] == first
    handed_in = {path.parts[-3]: roles[nbformat.read(path, as_version=4).cells[-2].source] for path in written}
    assert handed_in["ada"] in ("reference", "accepted")
    assert (handed_in["goro"], handed_in["hanna"]) == ("mutant", "stub")
