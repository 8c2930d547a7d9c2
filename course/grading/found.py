"""What is found in the bytes of one submission. Imports little: this is what a sealed worker runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.grading.exported import Cell
from course.grading.handout import Handout
from course.grading.recovery import find_answers
from course.grading.salvage import plain_cells, salvaged
from course.grading.sound import as_handed_in
from course.grading.unwrapping import Damaged

__all__ = ["found_in"]

_MOST_ANSWERS = 1_500_000
"""Characters of all answers: more does not come back from a worker."""


def found_in(handout: Handout, data: bytes) -> dict[str, Any]:
    """Answers, what was recovered and what was lost. Raises Damaged."""
    cells: Sequence[Cell] | None = plain_cells(data)
    damage = ""
    if not cells:
        read = salvaged(data, handout.lesson)
        cells, damage = read.cells, read.damage
    answers = as_handed_in(handout, cells)
    if answers is not None:
        return {"answers": answers, "recovered": {}, "lost": {}, "newer": {}, "damage": damage}
    found = find_answers(handout, cells, "breaks off" in damage)
    if sum(map(len, found.answers.values())) > _MOST_ANSWERS:
        raise Damaged("its answers are longer than any that this course asks for")
    newer = dict.fromkeys(found.newer, "")
    return {
        "answers": found.answers,
        "recovered": found.recovered,
        "lost": found.lost,
        "newer": newer,
        "damage": damage,
    }
