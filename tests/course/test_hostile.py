"""A small part of `python -m benchmarks.judge`: hostile answers cost no check of the course much, and none raises."""

from __future__ import annotations

import random
import sys

import pytest

from benchmarks.judge import targets, tried

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(sys.platform != "linux", reason="how much memory a try takes at most, Linux alone tells"),
]


@pytest.mark.parametrize("step", [pytest.param(40, id="some"), pytest.param(1, id="all", marks=pytest.mark.nightly)])
def test_hostile_answers_cost_little_in_every_check(step: int) -> None:
    chosen = list(enumerate(targets()))[::step]
    costs = [cost for number, target in chosen for cost in tried(target, random.Random(f"tests/{number}"))]
    assert len(costs) > 400 / step, "each check, at home and while grading"
    assert [str(cost) for cost in costs if cost.is_too_much] == []
