"""The quick look at a submission: where nothing is missing, moved or new, its answers are taken as they are.

So is an answer that nobody has begun, unless the text of another one may be it. Nothing is parsed, and no long text searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from nbproof.cells import CellKind
from nbproof.recover.asked import asked_in, is_commented_out, may_bind
from nbproof.recover.matching import bare, names_in
from nbproof.recover.notebook_bytes import ExportedCell, has_marks
from nbproof.recover.released import HandedOut, Handout
from nbproof.recover.writings import bring

__all__ = ["as_handed_in"]

_MOST = 50_000
"""Characters of all answers, where one of them is blank and the others are searched for it."""


@lru_cache(maxsize=32)
def _given(handout: Handout) -> tuple[dict[str, HandedOut], frozenset[str]]:
    """The released cells with ids, and the texts of all."""
    return {cell.name: cell for cell in handout.cells if cell.name}, frozenset(
        ["", *(bare(cell.source) for cell in handout.cells)]
    )


def as_handed_in(handout: Handout, cells: Sequence[ExportedCell]) -> dict[str, str] | None:
    """The answers of a notebook in which each stands in its own cell; None if that has to be looked into."""
    named, _ = _given(handout)
    own = {cell.name: cell for cell in cells if cell.name in named}
    if Counter(cell.name for cell in cells if cell.name in named) != Counter(named.keys()):
        return None
    answers = {name: _answer(named[name], own[name].source) for name in (*handout.stubs, *handout.written)}
    if all(_is_whole(handout, named[name], own[name]) for name in answers) and _is_all(handout, cells, answers):
        return answers
    return None


def _is_whole(handout: Handout, released: HandedOut, cell: ExportedCell) -> bool:
    """Whether a cell that is for an answer is as it was handed out, or holds nothing but that answer."""
    code = released.kind is CellKind.ANSWER
    if not cell.whole or code != (cell.kind == "code"):
        return False
    if not code or _is_blank(released, cell.source):
        return True
    asked = asked_in(handout)[released.name]
    return not has_marks(cell.source) and not is_commented_out(asked, released.source, cell.source)


def _answer(released: HandedOut, text: str) -> str:
    return released.source if released.kind is CellKind.ANSWER and _is_blank(released, text) else text


def _is_blank(released: HandedOut, text: str) -> bool:
    return bare(text) in ("", bare(released.source))


def _is_all(handout: Handout, cells: Sequence[ExportedCell], answers: dict[str, str]) -> bool:
    """Whether nothing that may be an answer, or a part of one, stands in another cell."""
    named, texts = _given(handout)
    blank = {name for name, text in answers.items() if _is_blank(named[name], text)}
    changed = [cell.name in named for cell in cells if cell.name not in answers and bare(cell.source) not in texts]
    return all(changed) and not (blank and (changed or _may_be_elsewhere(handout, cells, answers, blank)))


def _may_be_elsewhere(
    handout: Handout, cells: Sequence[ExportedCell], answers: dict[str, str], blank: set[str]
) -> bool:
    """Whether what stands in the cell of one answer may be that of another, whose own cell is blank."""
    if sum(map(len, answers.values())) > _MOST:
        return True
    asked = asked_in(handout)
    added = [may_bind(answers[name]) - names_in(stub)[1] for name, stub in handout.stubs.items() if name not in blank]
    if any(asked[name].may_be(names, here=False) for name in blank & asked.keys() for names in added):
        return True
    return bool(blank - asked.keys()) and bool(bring(handout, cells, answers))
