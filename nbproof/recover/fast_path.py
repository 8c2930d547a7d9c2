"""The quick look at a submission: if everything is in its place, its answers are taken as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from nbproof.cells import CellKind
from nbproof.recover.asked import asked_in, is_commented_out, may_bind
from nbproof.recover.matching import bare
from nbproof.recover.notebook_bytes import ExportedCell, has_marks
from nbproof.recover.released import Handout
from nbproof.recover.writings import MOST, bring

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
    if any(cell.kind == "code" and has_marks(cell.source) for cell in cells):
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
    if _may_be_answered_elsewhere(handout, cells, answers) or bring(handout, cells, answers):
        return None
    return answers


def _may_be_answered_elsewhere(handout: Handout, cells: Sequence[ExportedCell], answers: Mapping[str, str]) -> bool:
    """Whether another text may be the answer to a TODO cell that nobody has worked in, or that holds code in comments only."""
    asked, stubs = asked_in(handout), handout.stubs
    if any(is_commented_out(asked[name], stub, answers[name]) for name, stub in stubs.items()):
        return True
    blank = [name for name, stub in stubs.items() if bare(answers[name]) in ("", bare(stub))]
    if not blank:
        return False
    if sum(len(cell.source) for cell in cells) > MOST:
        return True
    texts = [may_bind(answers[one]) - asked[one].bound for one in stubs if one not in blank]
    own = [cell for cell in cells if cell.name not in answers and bare(cell.source) not in _shown(handout)]
    return any(
        any(asked[name].may_be(bound, here=False) for bound in texts)
        or any(asked[name].may_be(may_bind(cell.source), here=True) for cell in own)
        for name in blank
    )
