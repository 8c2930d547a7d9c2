"""What a worker answers, taken into the forms that marking works with. Learner code may have made up every word of it."""

from __future__ import annotations

import json
from typing import Any

from course.grading import wire
from course.grading.cell_names import CellNames
from course.grading.exceptions import WorkerLost
from course.notebook import readable
from course.results import Brought, Trouble

__all__ = ["brought_by", "error_told", "names_told", "trouble_told"]


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


def brought_by(told: str, payload: bytes) -> Brought:
    """What a probe brought: evidence, or trouble. ``told``: JSON. Raises WireError for another form."""
    try:
        evidence, trouble, printed = json.loads(told)
    except RecursionError:
        raise wire.WireError("evidence of no known form") from None
    if trouble is None:
        return Brought(wire.decode(evidence, payload), printed=readable(printed))
    if not _is_trouble(trouble):
        raise wire.WireError("trouble of no known form")
    kind, message, line, inside = (readable(text[:2000]) for text in trouble)
    return Brought(trouble=Trouble(kind, message, line, inside), printed=readable(printed))


def trouble_told(trouble: object) -> str:
    """The trouble that ended a probe, on one line; empty if there was none, or it has another form."""
    return f"{trouble[0][:200]}: {trouble[1][:2000]}" if _is_trouble(trouble) else ""  # type: ignore[index]


def _is_trouble(trouble: object) -> bool:
    return isinstance(trouble, list) and len(trouble) == 4 and all(isinstance(text, str) for text in trouble)


def error_told(error: object) -> str:
    """The error that ended a cell, on one line; empty if there is none, or it has another form."""
    if not (isinstance(error, list) and len(error) == 2):
        return ""
    kind, message = (readable(part[:500]) if isinstance(part, str) else "" for part in error)
    return f"{kind}: {message.splitlines()[0]}" if message.strip() else kind
