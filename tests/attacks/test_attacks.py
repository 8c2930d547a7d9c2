"""Attacks on the grader, handed in as submissions: none gains a mark, hurts a neighbour, sees a secret or outlives its limits.

One attack of each family, at the best level; what it costs a neighbour, the marks tell. At night both levels, an ordinary user
and nbgrader meet the whole arsenal, and whole verdicts are compared with those of a class without an attacker.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.attacks.arsenal_all import ATTACKS, UNSEEN
from tests.attacks.assault import NEIGHBOURS, Outcome, assault
from tests.attacks.judging import faults, faults_of_the_run

pytestmark = pytest.mark.slow

HONEST_SCORES = {"aa_honest_first": 6, "honest_full": 6, "honest_part": 2, "honest_none": 0, "zz_honest_last": 6}


def test_every_attack_fails(outcome: Outcome) -> None:
    assert {attack.family for attack in outcome.attacks} == {attack.family for attack in ATTACKS}
    found = {
        attack.name: {what: fault for what, fault in faults(outcome, attack).items() if fault}
        for attack in outcome.attacks
    }
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_honest_work_has_its_marks(outcome: Outcome) -> None:
    assert {learner: outcome.scores[learner] for learner in NEIGHBOURS} == HONEST_SCORES


@pytest.mark.nightly
def test_honest_neighbours_are_graded_as_if_alone(outcome: Outcome, alone: Outcome) -> None:
    for learner in NEIGHBOURS:
        assert _essence(outcome.verdicts[learner]) == _essence(alone.verdicts[learner])


def _essence(verdict: dict[str, Any]) -> object:
    """A verdict without what may differ from run to run: times, and the canaries in the answers."""
    return [{**exercise, "seconds": 0} for exercise in verdict["exercises"]]


def test_most_attackers_are_graded_and_not_refused(outcome: Outcome) -> None:
    refused = [attack.name for attack in outcome.attacks if attack.name not in outcome.verdicts]
    assert len(refused) < len(outcome.attacks) / 4


def test_the_run_leaves_nothing_behind(outcome: Outcome) -> None:
    assert faults_of_the_run(outcome) == []


def test_a_learner_without_a_proper_name_is_passed_over_aloud(outcome: Outcome) -> None:
    there = "learner_whose_name_is_no_text" in [attack.name for attack in outcome.attacks]
    assert ("not a learner's name" in " ".join(outcome.output.split())) is there


@pytest.mark.nightly
def test_what_is_rigged_for_ones_own_function_alone_is_not_seen() -> None:
    with assault(UNSEEN) as ended:
        assert [ended.exercise(one.name, one.exercise)["status"] for one in UNSEEN] == ["passed"]


def test_no_two_attacks_have_the_same_name() -> None:
    names = [attack.name for attack in ATTACKS]
    assert len(names) == len(set(names)) >= 60


@pytest.mark.nightly
def test_two_attacks_on_a_lesson_made_of_somebodys_notebook_fail() -> None:
    attacks = [attack for attack in ATTACKS if attack.name in ("reads_the_course", "exits")]
    with assault(attacks, adopted=True) as ended:
        assert [any(faults(ended, attack).values()) for attack in attacks] == [False, False]
        assert faults_of_the_run(ended) == []
