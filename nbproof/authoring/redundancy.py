"""Which mutants say the same thing twice: the same hint, by just the same checks, for just the same evidence.

They are listed for the author, who knows whether the two stand for different slips. Nothing is taken away.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nbproof.authoring.lesson import Candidate, Exercise
from nbproof.authoring.trial import Outcome

if TYPE_CHECKING:
    from nbproof.authoring.contract import Record

__all__ = ["Alike", "Way", "redundant", "way_of"]

Way = tuple[tuple[str, ...], ...]
"""How a mutant died: under each seed each check that failed, with its sentence, and what else the trial said."""

_ADDRESS = re.compile(r"0x[0-9a-f]+")


@dataclass(frozen=True)
class Alike:
    """Mutants of one exercise that nothing tells apart."""

    exercise: Exercise
    mutants: tuple[Candidate, ...]
    checks: tuple[str, ...]
    """The checks that all of them fail."""


def way_of(outcome: Outcome) -> Way:
    """How this trial ended; equal for two that differ in nothing that a check has seen."""
    found = [
        (str(seed), cell, one.check, one.hint or "", _ADDRESS.sub("0x", one.sentence))
        for seed, verdicts in enumerate(outcome.findings)
        for cell, findings in sorted(verdicts.items())
        for one in findings
        if not one.passed
    ]
    return (*found, (outcome.ended, *(_ADDRESS.sub("0x", error) for error in outcome.errors)))


def redundant(records: Sequence[Record]) -> Iterator[Alike]:
    """Groups of two and more, in the order of the lessons."""
    for record in records:
        groups: dict[tuple[str | None, Way], list[Candidate]] = defaultdict(list)
        for mutant in record.exercise.mutants:
            if mutant.name in record.ways:
                groups[mutant.hint, record.ways[mutant.name]].append(mutant)
        for (_, way), mutants in groups.items():
            if len(mutants) > 1:
                checks = dict.fromkeys(found[2] for found in way[:-1])
                yield Alike(record.exercise, tuple(mutants), tuple(checks))
