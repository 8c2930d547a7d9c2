"""Attacks on the grader, handed in as submissions: none gains a mark, hurts a neighbour, sees a secret or outlives its limits."""

from __future__ import annotations

from typing import Any

import pytest
from arsenal import Attack
from arsenal_all import ATTACKS, ROWS, THROUGH_NBGRADER
from assault import NEIGHBOURS, Outcome
from judging import faults, faults_of_the_run

pytestmark = pytest.mark.slow

HONEST_SCORES = {"aa_honest_first": 6, "honest_full": 6, "honest_part": 2, "honest_none": 0, "zz_honest_last": 6}

_each = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)


@_each
@pytest.mark.parametrize("what", ["marks", "status", "ran", "secrets", "limits", "page", "feedback"])
def test_the_attack_fails(outcome: Outcome, attack: Attack, what: str) -> None:
    assert faults(outcome, attack)[what] == []


@pytest.mark.parametrize("attack", THROUGH_NBGRADER, ids=lambda attack: attack.name)
def test_the_attack_fails_through_nbgrader_autograde(autograded: Outcome, attack: Attack) -> None:
    assert {what: found for what, found in faults(autograded, attack).items() if found} == {}


def test_honest_work_has_its_marks_from_nbgrader_autograde(autograded: Outcome) -> None:
    assert faults_of_the_run(autograded) == []
    assert {learner: autograded.scores[learner]["score"] for learner in NEIGHBOURS} == HONEST_SCORES
    refused = [one.name for one in THROUGH_NBGRADER if one.name not in autograded.verdicts]
    assert len(refused) < len(THROUGH_NBGRADER) / 4, f"most are graded, not refused: {refused}"


@pytest.mark.parametrize("learner", NEIGHBOURS)
def test_honest_neighbours_are_graded_as_if_alone(outcome: Outcome, alone: Outcome, learner: str) -> None:
    assert _essence(outcome.verdicts[learner]) == _essence(alone.verdicts[learner])
    assert outcome.scores[learner] == alone.scores[learner]


def _essence(verdict: dict[str, Any]) -> object:
    """A verdict without what may differ from run to run: times, and the canaries in the answers."""
    return [{**exercise, "seconds": 0} for exercise in verdict["exercises"]]


def test_honest_work_has_its_marks(outcome: Outcome) -> None:
    scores = {learner: outcome.scores[learner]["score"] for learner in NEIGHBOURS}
    assert scores == HONEST_SCORES


def test_the_run_leaves_nothing_behind(outcome: Outcome) -> None:
    assert faults_of_the_run(outcome) == []


def test_a_learner_without_a_proper_name_is_passed_over_aloud(outcome: Outcome) -> None:
    assert any("no learner's name" in note for note in outcome.notes)


def test_the_arsenal_covers_the_table_of_known_attacks() -> None:
    names = [attack.name for attack in ATTACKS]
    assert len(names) == len(set(names)) >= 60
    assert {name for row in ROWS.values() for name in row} <= set(names)
    assert len(ROWS) == 19
