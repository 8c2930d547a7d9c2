"""Trials: each in a process of its own, with everything that happens there brought back."""

from __future__ import annotations

import contextlib

import psutil
import pytest
from tiny import ANSWER, MUTANTS, TEST

from nbproof.authoring.forks import run_trials
from nbproof.authoring.trial import Outcome, Trial

SETUP = ("import os, sys, torch\nfrom course.models import Add",)
TESTS = (("test_catch", TEST.replace("NAME", "catch")),)

TRIALS = {
    "right": Trial("catch", SETUP, ANSWER, TESTS, seeds=(3, 4)),
    "wrong": Trial("catch", SETUP, MUTANTS["formula"], TESTS),
    "cell_raises": Trial("catch", SETUP, "thing = 1", (("test_catch", TESTS[0][1] + "\nthing.nothing\n"),)),
    "words": Trial("catch", SETUP, "print('out')\nprint('one', file=sys.stderr)\n_ = os.write(2, b'two')", ()),
    "home": Trial("catch", SETUP, "open('left behind', 'w').close()\nassert os.environ['HOME'] == os.getcwd()", ()),
    "endless": Trial("catch", (), "while True: pass", (), limit=1.0),
    "dies": Trial("catch", (), "import os; os._exit(0)", ()),
    "exits": Trial("catch", (), "raise SystemExit(1)", TESTS),
    "setup_dies": Trial("catch", ("import os; os._exit(3)",), ANSWER, TESTS),
    "setup_raises": Trial(
        "catch", ("import os\nprint('a word', file=__import__('sys').stderr)\nos.nothing",), "x = 1", ()
    ),
}


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    return {list(TRIALS)[index]: outcome for index, outcome in run_trials(list(TRIALS.values()), workers=2)}


def test_every_trial_comes_back_once(outcomes: dict[str, Outcome]) -> None:
    assert set(outcomes) == set(TRIALS)


def test_a_right_answer_fails_nothing_under_any_seed(outcomes: dict[str, Outcome]) -> None:
    right = outcomes["right"]
    assert (right.errors, right.flaws, right.stderr, right.ended) == ((), (), "", "")
    assert [right.failing(index) for index in (0, 1)] == [set(), set()]
    assert right.cells_lost(0) == set()
    assert right.seconds > 0


def test_a_wrong_answer_fails_by_check_and_loses_the_cell(outcomes: dict[str, Outcome]) -> None:
    wrong = outcomes["wrong"]
    assert [wrong.failing(index) for index in (0, 1)] == [{"test_catch/OtherForward"}] * 2
    assert wrong.cells_lost(0) == {"test_catch"}
    assert [found.passed for found in wrong.findings[0]["test_catch"]] == [True, False]


def test_a_test_cell_that_raises_is_lost_as_under_stock_nbgrader(outcomes: dict[str, Outcome]) -> None:
    raised = outcomes["cell_raises"]
    assert "test_catch/the cell raises" in raised.failing(0)
    assert raised.errors[0].startswith("test_catch: AttributeError: 'int' object has no attribute 'nothing'")


def test_stderr_is_gathered_from_python_and_from_c_and_stdout_is_not(outcomes: dict[str, Outcome]) -> None:
    words = outcomes["words"]
    assert words.stderr.replace("\n", " ").split() in (["one", "two", "one", "two"], ["one", "twoone", "two"])
    assert words.errors == ()


def test_a_trial_has_a_home_of_its_own(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["home"].errors == ()


def test_what_never_ends_and_what_dies_is_said_and_fails(outcomes: dict[str, Outcome]) -> None:
    assert (outcomes["endless"].ended, outcomes["dies"].ended) == ("timeout", "died")
    assert outcomes["endless"].failing(0) == {"timeout"}
    assert outcomes["dies"].cells_lost(0) == {"all"}


def test_an_exit_in_a_cell_ends_that_cell_only(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["exits"].errors[0].startswith("answer: SystemExit")
    assert outcomes["exits"].failing(0) == {"test_catch/Call", "test_catch/OtherForward"}


def test_a_setup_that_raises_or_dies_is_told_with_each_trial_that_needs_it(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["setup_dies"].ended == "died"
    raised = outcomes["setup_raises"]
    assert raised.errors[0].startswith("setup cell 0: AttributeError")
    assert raised.stderr.startswith("a word")


def test_leaving_early_ends_what_still_runs(outcomes: dict[str, Outcome]) -> None:
    before = _running()  # the process that forks stays
    forever = Trial("catch", (), "while True: pass", (), limit=600.0)
    trials = run_trials([TRIALS["dies"], forever], workers=2)
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
