"""A notebook that is being damaged, and its cells."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import Any

from nbproof.cells import kind_of, name_of, text_of

Cell = dict[str, Any]


class NothingLeft(Exception):
    """There is no TODO cell any more that could be damaged."""


@dataclass
class Work:
    """A notebook that is being damaged."""

    notebook: dict[str, Any]
    release: dict[str, Any]
    pick: random.Random
    lost: set[str] = field(default_factory=set)
    """Exercises that nobody can find any more."""

    @property
    def cells(self) -> list[Cell]:
        """Its cells, to be changed in place."""
        cells: list[Cell] = self.notebook["cells"]
        return cells

    def stubs(self) -> dict[str, str]:
        """The TODO cells as handed out."""
        return {name_of(cell): text_of(cell) for cell in self.release["cells"] if kind_of(cell) == "answer"}

    def todos(self) -> list[int]:
        """Where TODO cells that were worked on stand, all TODO cells if there are none."""
        stubs = self.stubs()
        own = [at for at, cell in enumerate(self.cells) if kind_of(cell) == "answer"]
        if not own:
            raise NothingLeft
        return [at for at in own if text_of(self.cells[at]).strip() != stubs[name_of(self.cells[at])].strip()] or own

    def todo(self, lines: int = 1) -> int:
        """One of them, of so many lines at least where there is one."""
        own = self.todos()
        return self.pick.choice([at for at in own if len(text_of(self.cells[at]).splitlines()) >= lines] or own)


def text(source: str) -> Cell:
    """A text cell."""
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(text: str) -> Cell:
    """A code cell."""
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text}


def like(cell: Cell, text: str) -> Cell:
    """A copy of a cell with another text."""
    return {**copy.deepcopy(cell), "source": text}
