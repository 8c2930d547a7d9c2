"""Answers as somebody might hand them in: the cells of an exercise's ``right.py`` and ``wrong.py``.

A cell is the whole text of the TODO cell. The first line of a wrong one names its misconception, and the hint that its
learner should get::

    # %% rebinds_output
    # misconception: rebinds the name | hint: rebinds_output
    # breaks: adds 5 to the output
    add = Add()
    ...

Lines below it say which words of the statement it breaks (:mod:`nbproof.authoring.demands`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbproof.authoring.exercise_folder import RIGHT, WRONG, read_named_cells
from nbproof.errors import LessonError

__all__ = ["Candidate", "nothing_to_break", "read_candidates"]

_MUTANT = re.compile(r"#\s*misconception:\s*(?P<name>.+?)\s*\|\s*hint:\s*(?P<hint>[a-z0-9_]+|none)\s*$")
_BREAKS = re.compile(r"#\s*breaks:\s*(?P<quote>.+?)\s*$")
_NOTHING = re.compile(r"#\s*nothing to break:\s*(?P<quote>.+?)\s*$")


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
    breaks: tuple[str, ...] = ()
    """What it breaks of the statement, in the statement's words."""


def read_candidates(folder: Path, role: str) -> tuple[Candidate, ...]:
    """The candidates of an exercise's folder, in their order. Raises LessonError for one that cannot be one of this role."""
    found = []
    for cell in read_named_cells(folder / (WRONG if role == "mutant" else RIGHT)):
        if not cell.name:
            if cell.source.strip():
                raise LessonError("an answer without a name", cell.place, "put a '# %% name' above each answer")
            continue
        misconception, hint, breaks = "", None, list[str]()
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
            for line in cell.source.split("\n")[1:]:
                quoted = _BREAKS.match(line)
                if quoted is None:
                    break
                breaks.append(quoted["quote"])
        found.append(Candidate(cell.name, role, cell.source + "\n", cell.place, misconception, hint, tuple(breaks)))
    return tuple(found)


def nothing_to_break(folder: Path) -> Iterator[tuple[str, str]]:
    """What the head of an exercise's wrong.py quotes of the statement as no demand, each with its place."""
    path = folder / WRONG
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n") if path.exists() else [], 1):
        if line.startswith("# %%"):
            return
        quoted = _NOTHING.match(line)
        if quoted is not None:
            yield quoted["quote"], f"{path}:{number}"
