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


def test_hostile_answers_cost_little_in_every_check() -> None:
    costs = [
        cost
        for number, target in enumerate(targets())
        for cost in tried(target, random.Random(f"tests/{number}"))
    ]  # fmt: skip
    assert len(costs) > 400, "each check, at home and while grading"
    assert [str(cost) for cost in costs if cost.is_too_much] == []
