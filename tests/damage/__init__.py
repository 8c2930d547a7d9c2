"""Made damage: what happens to notebooks on their way from a learner to a grader, as seeded functions.

``damaged(notebook, names, release, seed)`` damages a handed-in notebook in one or several ways. What is done to cells
stands in ``cells``, what is done to files in ``files``.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
from dataclasses import dataclass
from typing import Any

from nbproof.lesson.from_notebook import kind_of, name_of
from tests.damage.cells import CELLS, LOSE_IDS, NothingLeft, Work
from tests.damage.files import FILES


@dataclass(frozen=True)
class Kind:
    """One kind of damage, and where it is done."""

    name: str
    of: str
    """cells, file, or name"""
    refused: bool = False
    """Whether nothing of the file can be graded."""


@dataclass(frozen=True)
class Damage:
    """What comes out."""

    data: bytes
    path: str
    """Below the lesson's folder; ``{lesson}`` stands for the lesson's name."""
    lost: frozenset[str]
    """Exercises whose answers are gone."""
    refused: bool


_ELSEWHERE = ("below the check", "in another cell", "in the setup cell", "commented out")
_UNSURE = ("two answers at the end", "todos merged", "merged into setup", "merged into prose", "todo as text, id lost")
WAITS = {*_UNSURE, *(f"answer {where}" for where in _ELSEWHERE)}
"""Damage that leaves nobody certain of what is whose: a person has to look."""

NAMES: dict[str, str] = {
    "renamed by a browser": "{lesson} (1).ipynb",
    "renamed by Jupyter": "{lesson}-Copy1.ipynb",
    "renamed": "my homework FINAL v2.ipynb",
    "renamed to text": "{lesson}.ipynb.txt",
    "renamed to JSON": "{lesson}.json",
    "in capitals": "{lesson}.IPYNB",
    "in a folder too many": "{lesson}/{lesson}.ipynb",
    "folder in its place": "{lesson}.ipynb/{lesson}.ipynb",
}

KINDS: dict[str, Kind] = {
    **{name: Kind(name, "cells") for name in CELLS},
    **{name: Kind(name, "file", made.refused) for name, made in FILES.items()},
    **{name: Kind(name, "name") for name in NAMES},
}


def damaged(notebook: dict[str, Any], names: list[str], release: dict[str, Any], seed: object) -> Damage:
    """Damage a handed-in notebook (nbformat 4 as JSON) in these ways: its cells first, its file last."""
    work = Work(copy.deepcopy(notebook), release, random.Random(f"{seed}/{'+'.join(names)}"))
    before = {name_of(cell) for cell in release["cells"] if kind_of(cell) in ("answer", "written")}
    for name in sorted(names, key=LOSE_IDS.__contains__):
        if KINDS[name].of == "cells":
            with contextlib.suppress(NothingLeft):
                CELLS[name](work)
    path, refused = "{lesson}.ipynb", False
    data: bytes | None = None
    for name in names:
        if KINDS[name].of == "name":
            path = NAMES[name]
        elif KINDS[name].of == "file":
            made = FILES[name]
            if data is not None:
                raise ValueError("one kind of damage to the file at a time")
            data, lost = made.write(work.notebook, work.pick)
            work.lost |= before if made.refused else lost
            refused = refused or made.refused
    if data is None:
        data = json.dumps(work.notebook, indent=1, ensure_ascii=False).encode()
    return Damage(data, path, frozenset(work.lost & before), refused)
