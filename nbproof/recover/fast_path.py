"""The quick look at a submission: where nothing is missing, moved or new, its answers are taken as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from nbproof.cells import CellKind
from nbproof.recover.asked import asked_in, is_commented_out
from nbproof.recover.matching import bare
from nbproof.recover.notebook_bytes import ExportedCell, has_marks
from nbproof.recover.released import HandedOut, Handout

__all__ = ["as_handed_in"]


@lru_cache(maxsize=32)
def _given(handout: Handout) -> tuple[dict[str, HandedOut], frozenset[str]]:
    """The released cells with ids, and the texts of all."""
    return {cell.name: cell for cell in handout.cells if cell.name}, frozenset(
        bare(cell.source) for cell in handout.cells
    )


def as_handed_in(handout: Handout, cells: Sequence[ExportedCell]) -> dict[str, str] | None:
    """The answers of a notebook in which each stands in its own cell; None if that has to be looked into."""
    named, texts = _given(handout)
    if Counter(cell.name for cell in cells if cell.name in named) != Counter(named.keys()):
        return None
    answers = {}
    for cell in cells:
        released = named.get(cell.name or "")
        if released is not None and released.kind in (CellKind.ANSWER, CellKind.WRITTEN):
            if not _is_answered(handout, released, cell):
                return None
            answers[released.name] = cell.source
        elif released is None and cell.source.strip() and bare(cell.source) not in texts:
            return None
    return answers


def _is_answered(handout: Handout, released: HandedOut, cell: ExportedCell) -> bool:
    """Whether somebody has worked in a cell that is for an answer, and it is nothing but that answer."""
    as_it_was = bare(cell.source) in ("", bare(released.source))
    code = released.kind is CellKind.ANSWER
    if as_it_was or not cell.whole or code != (cell.kind == "code") or (code and has_marks(cell.source)):
        return False
    return not code or not is_commented_out(asked_in(handout)[released.name], released.source, cell.source)
