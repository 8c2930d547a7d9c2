"""Damage to what cells carry and to how often they are there: ids lost, cells deleted, cells copied."""

from __future__ import annotations

import copy
from collections.abc import Callable

from nbproof.cells import kind_of, name_of
from tests.damage.work import Work, like

__all__ = ["LOSE_IDS", "LOST_AND_COPIED"]

LOSE_IDS = ("colab", "vscode", "metadata garbled", "metadata of some lost")
"""Where ids are lost, nothing else can be aimed at any more."""


# What other front ends do to every cell.


def colab(work: Work) -> None:
    """Saved by Google Colab: no nbgrader, no cell ids, metadata of its own."""
    for cell in work.cells:
        cell["metadata"] = {"id": "".join(work.pick.choices("abcdefghijkLMNOP0123456789_-", k=12))}
        cell.pop("id", None)
    work.notebook["nbformat_minor"] = 0
    work.notebook["metadata"] = {
        "colab": {"provenance": []},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
    }


def vscode(work: Work) -> None:
    """Saved by VS Code: no nbgrader, new cell ids."""
    for cell in work.cells:
        cell["metadata"] = {"vscode": {"languageId": "python"}} if cell["cell_type"] == "code" else {}
        cell["id"] = f"{work.pick.randrange(16**8):08x}"


def metadata_of_some_lost(work: Work) -> None:
    """Every second cell or so has lost its metadata."""
    for cell in work.cells:
        if work.pick.random() < 0.5:
            cell["metadata"] = {}


def metadata_of_one_lost(work: Work) -> None:
    """One TODO cell has lost its metadata."""
    cell = work.cells[work.todo()]
    cell["metadata"] = {}
    cell["id"] = f"{work.pick.randrange(16**8):08x}"


def id_renamed(work: Work) -> None:
    """The id of one TODO cell was renamed."""
    grading = work.cells[work.todo()]["metadata"]["nbgrader"]
    name = str(grading["grade_id"])
    grading["grade_id"] = work.pick.choice([f"{name}-Copy1", name.upper(), name[:-1], "cell-1f0c3e"])


def metadata_garbled(work: Work) -> None:
    """nbgrader's metadata is there, and is nonsense."""
    for cell in work.cells:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"] = work.pick.choice([None, [], "answer", {"grade_id": 7}, {"grade_id": None}])
    work.notebook["metadata"] = []


# Cells that are gone.


def _deleted(kind: str) -> Callable[[Work], None]:
    def change(work: Work) -> None:
        work.cells[:] = [cell for cell in work.cells if kind_of(cell) != kind]

    change.__doc__ = f"All cells of the kind {kind!r} are deleted."
    return change


def todo_deleted(work: Work) -> None:
    """One TODO cell is deleted."""
    work.lost.add(name_of(work.cells.pop(work.todo())))


def todos_deleted(work: Work) -> None:
    """All TODO cells are deleted."""
    work.lost |= {name_of(cell) for cell in work.cells if kind_of(cell) == "answer"}
    _deleted("answer")(work)


# Cells that are there too often.


def copy_is_stub(work: Work) -> None:
    """A TODO cell was copied before it was worked on; the copy below is the stub."""
    at = work.todo()
    work.cells.insert(at + 1, like(work.cells[at], work.stubs()[name_of(work.cells[at])]))


def copy_was_worked_on(work: Work) -> None:
    """A TODO cell was copied, and the copy below was worked on."""
    at = work.todo()
    work.cells.insert(at, like(work.cells[at], work.stubs()[name_of(work.cells[at])]))


def copy_is_the_same(work: Work) -> None:
    """A TODO cell is there twice."""
    at = work.todo()
    work.cells.insert(work.pick.choice([at, len(work.cells)]), copy.deepcopy(work.cells[at]))


def earlier_version_above(work: Work) -> None:
    """Two versions, both worked on: the later one is directly above its check."""
    at = work.todo()
    stub = work.stubs()[name_of(work.cells[at])]
    work.cells.insert(at, like(work.cells[at], f"# my first try\n{stub}\n"))


def all_twice(work: Work) -> None:
    """The whole notebook stands in itself twice."""
    work.cells.extend(copy.deepcopy(work.cells))


LOST_AND_COPIED: dict[str, Callable[[Work], None]] = {
    "colab": colab,
    "vscode": vscode,
    "metadata of some lost": metadata_of_some_lost,
    "metadata of one lost": metadata_of_one_lost,
    "metadata garbled": metadata_garbled,
    "id renamed": id_renamed,
    "tests deleted": _deleted("test"),
    "setup deleted": _deleted("setup"),
    "prose deleted": _deleted("prose"),
    "showing cells deleted": _deleted("show"),
    "todo deleted": todo_deleted,
    "todos deleted": todos_deleted,
    "copy is stub": copy_is_stub,
    "copy was worked on": copy_was_worked_on,
    "copy is the same": copy_is_the_same,
    "earlier version above": earlier_version_above,
    "all twice": all_twice,
}
