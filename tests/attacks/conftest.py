"""A class of attackers and honest neighbours, graded once for all tests of it, and the neighbours alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pytest

from nbproof.sandbox.isolation import Isolation, offered, why_not_isolated
from tests.attacks.arsenal import LESSON, Attack
from tests.attacks.arsenal_all import ATTACKS
from tests.attacks.assault import NotHere, Outcome, assault

WAYS = {
    "at the best level": {},
    "at the reduced level": {"level": "reduced", "ordinary": True},
    "by an ordinary user": {"ordinary": True},
    "by nbgrader autograde": {"through": "autograde"},
    "on a cluster": {"through": "dask"},
}
"""How a class is graded."""


def _some() -> list[Attack]:
    """One attack of each family: of the lesson in which most of them stand, if there is one."""
    families: dict[str, Attack] = {}
    for attack in sorted(ATTACKS, key=lambda attack: attack.lesson != LESSON):
        families.setdefault(attack.family, attack)
    return list(families.values())


CLASSES = [
    pytest.param(({}, _some()), id="some at the best level"),
    *(pytest.param((way, ATTACKS), id=f"all {name}", marks=pytest.mark.nightly) for name, way in WAYS.items()),
]


@pytest.fixture(scope="session", params=CLASSES)
def outcome(request: pytest.FixtureRequest) -> Iterator[Outcome]:
    """What a class of attackers and their honest neighbours left behind."""
    way, attacks = request.param
    yield from graded(attacks, **way)


@pytest.fixture(scope="session")
def alone() -> Iterator[Outcome]:
    """The same neighbours, in a class without an attacker."""
    yield from graded(())


def graded(
    attacks: Sequence[Attack], level: str = "", ordinary: bool = False, through: str = "grade"
) -> Iterator[Outcome]:
    """What a class of these attackers leaves behind; skipped, aloud, where this machine cannot grade so."""
    reason = offered()[Isolation(level)] if level else why_not_isolated()
    if reason:
        pytest.skip(f"attacks are NOT tested {level}: this machine cannot isolate submissions: {reason}")
    if ordinary and not level and os.geteuid() != 0:
        pytest.skip("whoever runs these tests is an ordinary user: the best level is this test already")
    try:
        with assault(attacks, level=level, through=through, ordinary=ordinary and os.geteuid() == 0) as outcome:
            assert not level or f"isolation: {level}" in outcome.output
            yield outcome
    except NotHere as refusal:
        pytest.skip(str(refusal))
