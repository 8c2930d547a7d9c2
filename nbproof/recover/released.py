"""What was handed out to learners: the released notebook's cells, as the search for answers needs them.

Holds nothing that a learner does not have, so it may go to a sealed worker as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

__all__ = ["HandedOut", "Handout", "Kind"]

Kind = Literal["answer", "written", "test", "setup", "show", "prose"]


@dataclass(frozen=True)
class HandedOut:
    """One cell of the released notebook."""

    kind: Kind
    name: str
    """Its grade_id; empty where it has none."""
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
        return {cell.name: cell.source for cell in self.cells if cell.kind == "answer"}

    @property
    def written(self) -> dict[str, str]:
        """The cells for written answers: grade_id -> text."""
        return {cell.name: cell.source for cell in self.cells if cell.kind == "written"}

    @classmethod
    def of(
        cls, lesson: str, notebook: Any, answers: Mapping[str, str], written: Mapping[str, Any], setup: Mapping[str, str],
        tests: Mapping[str, str],
    ) -> Handout:  # fmt: skip
        """From the learner's version of a notebook, and the ids of its kinds of cells. ``tests``: id -> exercise."""
        found = []
        for cell in notebook.cells:
            name = str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
            kind: Kind = "show" if cell.cell_type == "code" else "prose"
            for known, ids in (("answer", answers), ("written", written), ("setup", setup), ("test", tests)):
                kind = known if name and name in ids else kind  # type: ignore[assignment]
            found.append(HandedOut(kind, name, str(cell.get("id", "")), cell.source, tests.get(name, "")))
        return cls(lesson, tuple(found))

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-able data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Handout:
        """What :meth:`as_dict` wrote down."""
        return cls(data["lesson"], tuple(HandedOut(**cell) for cell in data["cells"]))
