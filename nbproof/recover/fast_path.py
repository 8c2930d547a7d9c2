"""The quick look at a submission: if everything is in its place, its answers are taken as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from nbproof.cells import CellKind
from nbproof.recover.exported import ExportedCell
from nbproof.recover.matching import FENCE, bare, names_in
from nbproof.recover.released import Handout
from nbproof.recover.writings import may_stand_elsewhere

__all__ = ["as_handed_in"]


@lru_cache(maxsize=64)
def _shown(handout: Handout) -> frozenset[str]:
    return frozenset(bare(cell.source) for cell in handout.cells)


def as_handed_in(handout: Handout, cells: Sequence[ExportedCell]) -> dict[str, str] | None:
    """The answers of a notebook in which nothing was lost, moved or split; None if that has to be looked into."""
    kinds = {cell.name: cell.kind for cell in handout.cells if cell.name}
    counts = Counter(cell.name for cell in cells if cell.name)
    for name, kind in kinds.items():
        if counts[name] != 1 and not (kind in (CellKind.TEST, CellKind.SETUP) and counts[name]):
            return None
    answers = {}
    for cell in cells:
        kind = kinds.get(cell.name or "", CellKind.SHOW)
        if kind in (CellKind.ANSWER, CellKind.WRITTEN):
            if not cell.whole or (kind is CellKind.ANSWER) != (cell.kind == "code"):
                return None
            answers[cell.name or ""] = cell.source
    new = [
        kinds.get(cell.name or "") is None and bool(cell.source.strip()) and bare(cell.source) not in _shown(handout)
        for cell in cells
    ]
    todo = [kinds.get(cell.name or "") is CellKind.ANSWER for cell in cells]
    for at, cell in enumerate(cells):
        if new[at] and cell.kind == "code" and any(todo[max(0, at - 1) : at + 2]):
            return None  # the two may be one cell that was split
    if _may_be_answered_elsewhere(handout, cells, new, answers) or may_stand_elsewhere(handout, cells, answers):
        return None
    return answers


def _may_be_answered_elsewhere(
    handout: Handout, cells: Sequence[ExportedCell], new: Sequence[bool], answers: dict[str, str]
) -> bool:
    """Whether a name that only an untouched TODO cell asks for is bound, or may be bound, in another cell."""
    stubs = handout.stubs
    blank = [name for name, stub in stubs.items() if bare(answers[name]) in ("", bare(stub))]
    if not blank:
        return False
    wanted = frozenset().union(*(names_in(stubs[name])[1] for name in blank))
    defined = [
        (names_in(answers[one])[0] - names_in(stub)[1]) & wanted for one, stub in stubs.items() if one not in blank
    ]
    return any(defined) or any(
        new[at] and bool(wanted & names_in(cell.source)[1] or (cell.kind != "code" and FENCE.search(cell.source)))
        for at, cell in enumerate(cells)
    )
