"""What a worker answers, taken into the forms that marking works with. Learner code may have made up every word of it."""

from __future__ import annotations

from typing import Any

from nbproof.marking.judge import ProbeAnswer
from nbproof.sandbox import wire
from nbproof.sandbox.cell_names import CellNames
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.text import readable
from nbproof.values.results import ProbeError

__all__ = ["brought_by", "error_told", "names_told"]


def names_told(answer: dict[str, Any], cells: int, edited: int) -> tuple[list[CellNames], list[str]]:
    """What it says of the names of ``cells`` texts, and what was added to ``edited`` ones. Raises WorkerLost for another form."""
    told, added = answer["names"], answer["added"]
    if len(told) != cells or len(added) != edited or not all(isinstance(text, str) for text in added):
        raise WorkerLost("protocol", "it answered what was not asked")
    found = []
    for one in told:
        if not (isinstance(one, list) and len(one) == 7 and all(isinstance(part, list) for part in one[:6])):
            raise WorkerLost("protocol", "it answered what was not asked")
        parts = (frozenset(name for name in part if isinstance(name, str)) for part in one[:6])
        binds, now, later, defines, changes, lasting = parts
        found.append(CellNames(binds, now, later, defines, changes, lasting, bool(one[6])))
    return found, added


def brought_by(answer: dict[str, Any], payload: bytes) -> ProbeAnswer:
    """What a probe brought: evidence, still packed, or trouble. Raises WireError for trouble of another form."""
    trouble = answer.get("trouble")
    if trouble is None:
        return ProbeAnswer(payload, printed=readable(answer["printed"][:5_000]))
    if not (isinstance(trouble, list) and len(trouble) == 4 and all(isinstance(text, str) for text in trouble)):
        raise wire.WireError("trouble of no known form")
    kind, message, line, inside = (readable(text[:2000]) for text in trouble)
    return ProbeAnswer(b"", ProbeError(kind, message, line, inside), printed=readable(answer["printed"][:5_000]))


def error_told(error: object) -> str:
    """The error that ended a cell, on one line; empty if there is none, or it has another form."""
    if not (isinstance(error, list) and len(error) == 2):
        return ""
    kind, message = (readable(part[:500]) if isinstance(part, str) else "" for part in error)
    return f"{kind}: {message.splitlines()[0]}" if message.strip() else kind
