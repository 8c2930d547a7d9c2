"""Exercises that are newer than a submission: added to the lesson after its learner had been handed the notebook.

A learner may lose a TODO cell. Who has neither the TODO cell nor its check nor the text that asks for it, and all else
around it, has an older notebook: nothing is missing of it, and nobody needs to look.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

from nbproof.cells import CellKind
from nbproof.recover.exported import ExportedCell
from nbproof.recover.matching import bare
from nbproof.recover.released import HandedOut, Handout

__all__ = ["NEWER", "newer_than"]

NEWER = "This was added to the lesson after your notebook had been handed out."
"""What its learner reads."""


def newer_than(handout: Handout, cells: Sequence[ExportedCell], lost: Collection[str]) -> tuple[str, ...]:
    """Of the answers that are ``lost`` (ids of TODO cells and of written answers), those that these cells cannot have had."""
    names = {cell.name for cell in cells if cell.name}
    text = "\n".join(bare(cell.source) for cell in cells)

    def has(source: str) -> bool:
        return bool(bare(source)) and bare(source) in text

    def holds(cell: HandedOut) -> bool:
        """By its id, a check also by its text; prose by its text or its heading."""
        if cell.name:
            return cell.name in names or (cell.kind is CellKind.TEST and has(cell.source))
        heading = next((line for line in cell.source.splitlines() if line.startswith("### ")), "")
        return has(cell.source) or has(heading)

    places = [place for place, cell in enumerate(handout.cells) if cell.kind in (CellKind.ANSWER, CellKind.WRITTEN)]
    gone = [
        place for place in places if handout.cells[place].name in lost and not any(map(holds, _own(handout, place)))
    ]
    kept = [place for place in places if place not in gone and holds(handout.cells[place])]
    # A notebook that was cut off at some place, or torn to pieces, lacks more than what is new.
    if not kept or len(gone) > len(kept):
        return ()
    last = max(place for place, cell in enumerate(handout.cells) if cell.name and holds(cell))
    return tuple(handout.cells[place].name for place in gone if len(gone) == 1 or place < last)


def _own(handout: Handout, place: int) -> list[HandedOut]:
    """The cells that came with an answer cell: it, its checks, and the nearest prose above it."""
    cell = handout.cells[place]
    tests = [one for one in handout.cells if one.kind is CellKind.TEST and one.exercise == cell.name]
    above = itertools.takewhile(lambda one: not one.name, reversed(handout.cells[:place]))
    return [cell, *tests, *[one for one in above if one.kind is CellKind.PROSE][:1]]
