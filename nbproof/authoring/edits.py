"""A wrong answer as edits of another answer: what its learner does otherwise is all that one has to read.

Below its head a mutant names the answer that it is made of, then come its edits, as ``diff`` writes them::

    # %% rebinds_output
    # misconception: rebinds the name | hint: rebinds_output
    # edits: reference
    -    return output + 5
    +    output = output + 5

Lines with ``-`` go, lines with ``+`` come in their place, and lines with a space stay: they say where. Lines that stand
together there stand together in the answer, and there only once; a line ``@@`` parts them from the next ones, further down.
Edits with ``+`` alone are added at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from nbproof.errors import LessonError

__all__ = ["edited"]

_NEXT = "@@"


def edited(answer: Sequence[str], edits: Sequence[str], place: str) -> list[str]:
    """The lines of ``answer`` with these edits. Raises LessonError, with this place, for one that does not fit."""
    lines, below = list(answer), 0
    for parted, group in groupby(edits, _NEXT.__eq__):
        if parted:
            continue
        edit = list(group)
        strange = [line for line in edit if line[:1] not in " -+"]
        if strange:
            raise LessonError(
                f"an edit that begins with none of '-', '+' and ' ': {strange[0]!r}", place, "write one of them"
            )
        old = [line[1:] for line in edit if not line.startswith("+")]
        new = [line[1:] for line in edit if not line.startswith("-")]
        start = _only_place(lines, old, below, place) if old else len(lines)
        lines[start : start + len(old)] = new
        below = start + len(new)
    return lines


def _only_place(lines: list[str], old: list[str], below: int, place: str) -> int:
    """Where these lines stand, from line ``below`` on."""
    found = [at for at in range(below, len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
    if len(found) != 1:
        raise LessonError(
            f"{old[0]!r} stands there {len(found)} times, and has to stand there once",
            place,
            "quote the answer as nbproof check --show prints it; a line above or below it, with a space, says which one",
        )
    return found[0]
