"""Trials: each in a process of its own, with everything that happens there brought back.

A simulated class hands in what learners hand in: released notebooks with TODO cells filled.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import nbformat
import psutil
import pytest

from nbproof.authoring.forks import run_trials
from nbproof.authoring.lesson import read_lesson
from nbproof.authoring.simulate import LEARNERS, as_handed_in, simulate_class
from nbproof.authoring.trial import Trial, Tried
from tests.authoring.tiny import ANSWER, TEST

SETUP = ("import os, sys, torch\nfrom course.models import Add",)
TESTS = (("test_catch", TEST.replace("NAME", "catch")),)

TRIALS = {
    "cell_raises": Trial("catch", SETUP, "thing = 1", (("test_catch", TESTS[0][1] + "\nthing.nothing\n"),)),
    "dies": Trial("catch", (), "import os; os._exit(0)", ()),
    "setup_dies": Trial("catch", ("import os; os._exit(3)",), ANSWER, TESTS),
    "setup_never_ends": Trial("catch", ("while True: pass",), ANSWER, TESTS, limit=1.0),
    "setup_raises": Trial(
        "catch", ("import os\nprint('a word', file=__import__('sys').stderr)\nos.nothing",), "x = 1", ()
    ),
}


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Tried]:
    return {list(TRIALS)[index]: outcome for index, outcome in run_trials(list(TRIALS.values()))}


@pytest.mark.slow
def test_a_test_cell_that_raises_is_lost_as_under_stock_nbgrader(outcomes: dict[str, Tried]) -> None:
    raised = outcomes["cell_raises"]
    assert "test_catch/the cell raises" in raised.failing(0)
    assert raised.errors[0].startswith("test_catch: AttributeError: 'int' object has no attribute 'nothing'")


@pytest.mark.slow
def test_a_setup_that_raises_or_dies_is_told_with_each_trial_that_needs_it(outcomes: dict[str, Tried]) -> None:
    assert outcomes["setup_dies"].ended == outcomes["setup_never_ends"].ended == "died"
    raised = outcomes["setup_raises"]
    assert raised.errors[0].startswith("setup cell 0: AttributeError")
    assert raised.stderr.startswith("a word")


@pytest.mark.slow
def test_leaving_early_ends_what_still_runs(outcomes: dict[str, Tried]) -> None:
    before = _running()  # the process that forks stays
    forever = Trial("catch", (), "while True: pass", (), limit=600.0)
    trials = run_trials([TRIALS["dies"], forever])
    assert next(trials)[1].ended == "died"
    trials.close()
    assert _running() <= before


def _running() -> set[int]:
    found = set()
    for one in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if one.status() != psutil.STATUS_ZOMBIE:
                found.add(one.pid)
    return found


SLUG = "00_tiny"


def answers(course: Path) -> dict[str, str]:
    """Learner -> what they handed in for the only exercise."""
    return {
        path.parent.parent.name: nbformat.read(path, as_version=4).cells[-2].source
        for path in (course / "submitted").glob("*/*/*.ipynb")
    }


def test_skill_and_effort_decide_what_is_handed_in(course: Path) -> None:
    (exercise,) = read_lesson(course / "lessons" / SLUG).exercises
    roles = {as_handed_in(one): one.role for one in exercise.candidates}
    assert not any(word in text for text in roles for word in ("misconception:", "breaks:"))
    written = simulate_class(course, [SLUG])
    assert written == [course / "submitted" / one.name / SLUG / f"{SLUG}.ipynb" for one in LEARNERS]
    first = answers(course)
    simulate_class(course, [SLUG])
    assert answers(course) == first
    handed_in = {learner: roles[source] for learner, source in first.items()}
    assert handed_in["ada"] in ("reference", "accepted")
    assert handed_in["goro"] == "mutant"
    assert handed_in["hanna"] == "stub"
