"""Answers as somebody might hand them in: the cells of an exercise's ``right.py`` and ``wrong.py``.

A cell is the whole text of the TODO cell. The first line of a wrong one names its misconception, and the hint that its
learner should get::

    # %% rebinds_output
    # misconception: rebinds the name | hint: rebinds_output
    add = Add()
    ...
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from nbproof.authoring.exercise_folder import RIGHT, WRONG, read_named_cells
from nbproof.errors import LessonError

__all__ = ["Candidate", "read_candidates"]

_MUTANT = re.compile(r"#\s*misconception:\s*(?P<name>.+?)\s*\|\s*hint:\s*(?P<hint>[a-z0-9_]+|none)\s*$")


@dataclass(frozen=True)
class Candidate:
    """The text of a TODO cell as somebody might hand it in."""

    name: str
    """'reference', 'stub', or the name of its cell."""
    role: str
    """'reference', 'stub', 'accepted' or 'mutant'."""
    source: str
    place: str = ""
    """``<file>:<line>`` of its cell in right.py or wrong.py; empty for reference and stub."""
    misconception: str = ""
    hint: str | None = None


def read_candidates(folder: Path, role: str) -> tuple[Candidate, ...]:
    """The candidates of an exercise's folder, in their order. Raises LessonError for one that cannot be one of this role."""
    found = []
    for cell in read_named_cells(folder / (WRONG if role == "mutant" else RIGHT)):
        if not cell.name:
            if cell.source.strip():
                raise LessonError("an answer without a name", cell.place, "put a '# %% name' above each answer")
            continue
        misconception, hint = "", None
        match = _MUTANT.match(cell.source.split("\n", 1)[0])
        first = f"{cell.path}:{cell.line}"
        if role == "accepted" and match is not None:
            raise LessonError(
                f"a mutant lies among the accepted answers: its first line names a misconception, {match['name']!r}",
                first,
                f"move the cell to {WRONG}, or, if it is a right answer, take that line out",
            )
        if role == "mutant":
            if match is None:
                raise LessonError(
                    "a mutant's first line names its misconception and the hint expected for it",
                    first,
                    "write: # misconception: <in a few words> | hint: <id, or none>",
                )
            misconception = match["name"]
            hint = None if match["hint"] == "none" else match["hint"]
        found.append(Candidate(cell.name, role, cell.source + "\n", cell.place, misconception, hint))
    return tuple(found)
