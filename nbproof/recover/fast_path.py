"""The quick look at a submission: where everything is in its place, its answers are taken as they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from nbproof.recover.elsewhere import may_stand_elsewhere
from nbproof.recover.exported import ExportedCell
from nbproof.recover.released import Handout
from nbproof.recover.similarity import bare, line_keys

__all__ = ["as_handed_in"]

_BINDS = re.compile(r"^(?:async def|def|class) +(\w+)|^(\w+) *=(?!=)", re.MULTILINE)


@dataclass(frozen=True)
class _Known:
    """What the quick look needs of a lesson."""

    names: dict[str, str]
    """grade_id -> kind"""
    shown: frozenset[str]
    defined: dict[str, frozenset[str]]
    """exercise -> names that its stub binds"""
    rare: dict[str, frozenset[str]]
    """exercise -> lines of its stub that stand nowhere else"""
    tail: dict[str, bool]
    """exercise -> whether its stub goes on after its last function or class"""


@lru_cache(maxsize=64)
def _known(handout: Handout) -> _Known:
    written = Counter(key for cell in handout.cells for key in set(line_keys(cell.source)))
    return _Known(
        {cell.name: cell.kind for cell in handout.cells if cell.name},
        frozenset(bare(cell.source) for cell in handout.cells if cell.kind in ("show", "setup", "test")),
        {name: _bound(stub) for name, stub in handout.stubs.items()},
        {
            name: frozenset(key for key in line_keys(stub) if written[key] == 1 and len(key) > 3)
            for name, stub in handout.stubs.items()
        },
        {name: not _ends_in_block(stub) for name, stub in handout.stubs.items()},
    )


def as_handed_in(handout: Handout, cells: Sequence[ExportedCell]) -> dict[str, str] | None:
    """The answers of a notebook in which nothing was lost, moved or split; None if that has to be looked into."""
    known = _known(handout)
    counts = Counter(cell.name for cell in cells if cell.name)
    for name, kind in known.names.items():
        if counts[name] != 1 and not (kind in ("test", "setup") and counts[name]):
            return None
    answers = {}
    for cell in cells:
        kind = known.names.get(cell.name or "", "")
        if kind in ("answer", "written"):
            if not cell.whole or (kind == "answer") != (cell.kind == "code"):
                return None
            answers[cell.name or ""] = cell.source
    if _answers_elsewhere(handout, known, cells, answers) or may_stand_elsewhere(handout, cells, answers):
        return None
    return answers


def _answers_elsewhere(handout: Handout, known: _Known, cells: Sequence[ExportedCell], answers: dict[str, str]) -> bool:
    """Whether a new cell may be an answer, or a part of one."""
    extra = [
        cell.kind == "code" and known.names.get(cell.name or "") is None and bool(cell.source.strip())
        and bare(cell.source) not in known.shown
        for cell in cells
    ]  # fmt: skip
    if not any(extra):
        return False
    stubs = handout.stubs
    missing = {
        name: known.defined[name] if bare(answers[name]) == bare(stub) else known.defined[name] - _bound(answers[name])
        for name, stub in stubs.items()
    }
    for at, cell in enumerate(cells):
        if extra[at]:
            bound = _bound(cell.source)
            if any(bound & names for names in missing.values()):
                return True
            for beside in (at - 1, at + 1):
                if 0 <= beside < len(cells) and _continues(known, cells, extra, at, beside):
                    return True
    return False


def _bound(source: str) -> frozenset[str]:
    return frozenset(match[1] or match[2] for match in _BINDS.finditer(source))


def _continues(known: _Known, cells: Sequence[ExportedCell], extra: Sequence[bool], at: int, beside: int) -> bool:
    """Whether a new cell next to a TODO cell, or next to another new cell, looks like the rest of something."""
    cell, other = cells[at], cells[beside]
    later = cell if at > beside else other
    name = other.name or ""
    if known.names.get(name) != "answer" and not extra[beside]:
        return False
    if later.source.lstrip("\n")[:1] in (" ", "\t"):
        return True
    if known.names.get(name) != "answer":
        return False
    if known.tail[name] and at > beside and _ends_in_block(other.source):
        return True
    return bool(known.rare[name] & (set(line_keys(cell.source)) - set(line_keys(other.source))))


def _ends_in_block(source: str) -> bool:
    lines = source.rstrip().splitlines()
    return bool(lines) and lines[-1][:1] in (" ", "\t")
