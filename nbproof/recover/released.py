"""What was handed out to learners: the released notebook's cells, as the search for answers needs them.

Holds nothing that a learner does not have, so it may go to a sealed worker as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from nbproof.cells import CellKind, kind_of, name_of

__all__ = ["HandedOut", "Handout"]

_AS_HANDED_OUT = {CellKind.MANUAL: CellKind.ANSWER, CellKind.TASK: CellKind.PROSE}
"""To learners it is the same who marks a TODO cell; and a task is read, and answered elsewhere."""


@dataclass(frozen=True)
class HandedOut:
    """One cell of the released notebook."""

    kind: CellKind
    name: str
    """Its grade_id; empty if it has none."""
    id: str
    """The notebook format's own id."""
    source: str
    exercise: str = ""
    """Of a test cell: the exercise that it tests."""


@dataclass(frozen=True)
class Handout:
    """The released notebook of one lesson."""

    lesson: str
    cells: tuple[HandedOut, ...]

    @property
    def stubs(self) -> dict[str, str]:
        """The TODO cells: grade_id -> text."""
        return {cell.name: cell.source for cell in self.cells if cell.kind is CellKind.ANSWER}

    @property
    def written(self) -> dict[str, str]:
        """The cells for written answers: grade_id -> text."""
        return {cell.name: cell.source for cell in self.cells if cell.kind is CellKind.WRITTEN}

    @classmethod
    def of(cls, lesson: str, notebook: Any, tests: Mapping[str, str]) -> Handout:
        """From the learner's version of a notebook. ``tests``: id of a test cell -> the exercise that it tests."""
        found = []
        for cell in notebook.cells:
            kind, name = kind_of(cell), name_of(cell)
            kind = _AS_HANDED_OUT.get(kind, kind)
            found.append(HandedOut(kind, name, str(cell.get("id", "")), cell.source, tests.get(name, "")))
        return cls(lesson, tuple(found))

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-able data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Handout:
        """What :meth:`as_dict` wrote down."""
        return cls(
            data["lesson"], tuple(HandedOut(**{**cell, "kind": CellKind(cell["kind"])}) for cell in data["cells"])
        )
