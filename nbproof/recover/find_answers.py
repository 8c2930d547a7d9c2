"""What is found in the bytes of one submission. Imports little: this is what a sealed worker runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nbproof.recover.exported import ExportedCell
from nbproof.recover.fast_path import as_handed_in
from nbproof.recover.notebook_bytes import plain_cells, salvaged
from nbproof.recover.own_cells import own_cells
from nbproof.recover.recovery import find_answers
from nbproof.recover.released import Handout
from nbproof.recover.unpacking import Damaged

__all__ = ["found_in"]

_MOST_ANSWERS = 2_000_000
"""Characters of all answers: more does not come back from a worker."""


def found_in(handout: Handout, data: bytes) -> dict[str, Any]:
    """Answers, own cells, what was recovered and what was lost. Raises Damaged."""
    cells: Sequence[ExportedCell] | None = plain_cells(data)
    damage = ""
    if not cells:
        read = salvaged(data, handout.lesson)
        cells, damage = read.cells, read.damage
    answers = as_handed_in(handout, cells)
    if answers is not None:
        own = [one.as_dict() for one in own_cells(handout, cells)]
        return {"answers": answers, "own": own, "recovered": {}, "lost": {}, "newer": {}, "damage": damage}
    found = find_answers(handout, cells, "breaks off" in damage)
    if sum(map(len, found.answers.values())) > _MOST_ANSWERS:
        raise Damaged("its answers are longer than any that this course asks for")
    return {
        "answers": found.answers, "own": [one.as_dict() for one in found.own], "recovered": found.recovered,
        "lost": found.lost, "newer": dict.fromkeys(found.newer, ""), "damage": damage,
    }  # fmt: skip
