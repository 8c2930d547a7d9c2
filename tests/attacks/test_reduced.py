"""Attacks on the grader where namespaces are refused, run by an ordinary user: they end the same at the reduced level.

Every fourth attack, so that all families are there, and the whole test run stays short. COURSE_ALL_ATTACKS=1 takes all, and
`python -m tests.attacks --isolation reduced` prints them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from arsenal import Attack
from arsenal_all import ATTACKS
from assault import NEIGHBOURS, ORDINARY, NotHere, Outcome, assault, remove, start_as_ordinary, temporary_folder
from judging import faults, faults_of_the_run

from nbproof.sandbox.isolation import Isolation, offered

pytestmark = pytest.mark.slow

_SOME = ATTACKS if os.environ.get("COURSE_ALL_ATTACKS") else ATTACKS[2::4]


@pytest.fixture(scope="module")
def reduced() -> Iterator[Outcome]:
    """What the class of attackers left behind at the reduced level."""
    if offered()[Isolation.REDUCED]:
        pytest.skip(f"reduced isolation is NOT tested: {offered()[Isolation.REDUCED]}")
    folder = temporary_folder()
    try:
        if os.geteuid() == 0:
            yield assault(folder, _SOME, start=start_as_ordinary, uid=ORDINARY, level="reduced")
        else:
            yield assault(folder, _SOME, level="reduced")
    except NotHere as refusal:
        pytest.skip(str(refusal))
    finally:
        remove(folder)


def test_every_family_is_there() -> None:
    assert {attack.family for attack in _SOME} == {attack.family for attack in ATTACKS}


@pytest.mark.parametrize("attack", _SOME, ids=lambda attack: attack.name)
def test_the_attack_fails(reduced: Outcome, attack: Attack) -> None:
    assert reduced.level == "reduced"
    assert {what: found for what, found in faults(reduced, attack).items() if found} == {}


@pytest.mark.parametrize("learner", NEIGHBOURS)
def test_honest_neighbours_are_graded_as_at_the_best_level(reduced: Outcome, outcome: Outcome, learner: str) -> None:
    assert reduced.scores[learner] == outcome.scores[learner]
    found, wanted = reduced.verdicts[learner]["exercises"], outcome.verdicts[learner]["exercises"]
    assert [{**one, "seconds": 0} for one in found] == [{**one, "seconds": 0} for one in wanted]


def test_the_run_leaves_nothing_behind(reduced: Outcome) -> None:
    assert faults_of_the_run(reduced) == []
