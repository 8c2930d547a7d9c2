"""One run of the whole class for all tests: attackers and honest neighbours together, and the neighbours alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from arsenal_all import ATTACKS, THROUGH_NBGRADER
from assault import Outcome, assault, remove, temporary_folder

from nbproof.sandbox.isolation import why_not_isolated


@pytest.fixture(scope="session")
def outcome() -> Iterator[Outcome]:
    """What a class of attackers and their honest neighbours left behind."""
    yield from _graded(attacked=True)


@pytest.fixture(scope="session")
def alone() -> Iterator[Outcome]:
    """The same neighbours, in a class without an attacker."""
    yield from _graded(attacked=False)


@pytest.fixture(scope="session")
def autograded() -> Iterator[Outcome]:
    """What some of the attackers left behind where `nbgrader autograde` graded."""
    yield from _graded(attacked=True, through="autograde")


def _graded(attacked: bool, through: str = "grade") -> Iterator[Outcome]:
    reason = why_not_isolated()
    if reason:
        pytest.skip(f"this machine cannot isolate submissions: {reason}")
    folder = temporary_folder()
    try:
        attacks = THROUGH_NBGRADER if through == "autograde" else ATTACKS
        yield assault(folder, attacks if attacked else (), through=through)
    finally:
        remove(folder)
