"""Attacks on a grader that an ordinary user runs, without root: they end the same.

Every sixth attack, so that all families are there, and the whole test run stays short. COURSE_ALL_ATTACKS=1 takes all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from arsenal import Attack
from arsenal_all import ATTACKS
from assault import NEIGHBOURS, ORDINARY, NotHere, Outcome, assault, remove, start_as_ordinary, temporary_folder
from judging import faults, faults_of_the_run

pytestmark = pytest.mark.slow

_SOME = ATTACKS if os.environ.get("COURSE_ALL_ATTACKS") else ATTACKS[::6]


@pytest.fixture(scope="module")
def ordinary() -> Iterator[Outcome]:
    """What the class of attackers left behind for a grader that is an ordinary user."""
    if os.geteuid() != 0:
        pytest.skip("these tests run as an ordinary user: test_attacks.py is this test already")
    folder = temporary_folder()
    try:
        outcome = assault(folder, _SOME, start=start_as_ordinary, uid=ORDINARY)
    except NotHere as refusal:
        remove(folder)
        pytest.skip(str(refusal))
    yield outcome
    remove(folder)


def test_every_family_is_there() -> None:
    assert {attack.family for attack in _SOME} == {attack.family for attack in ATTACKS}


@pytest.mark.parametrize("attack", _SOME, ids=lambda attack: attack.name)
def test_the_attack_fails(ordinary: Outcome, attack: Attack) -> None:
    assert {what: found for what, found in faults(ordinary, attack).items() if found} == {}


@pytest.mark.parametrize("learner", NEIGHBOURS)
def test_honest_neighbours_are_graded_as_by_root(ordinary: Outcome, outcome: Outcome, learner: str) -> None:
    assert ordinary.scores[learner] == outcome.scores[learner]
    found, wanted = ordinary.verdicts[learner]["exercises"], outcome.verdicts[learner]["exercises"]
    assert [{**one, "seconds": 0} for one in found] == [{**one, "seconds": 0} for one in wanted]


def test_the_run_leaves_nothing_behind(ordinary: Outcome) -> None:
    assert ordinary.uid == ORDINARY
    assert faults_of_the_run(ordinary) == []
