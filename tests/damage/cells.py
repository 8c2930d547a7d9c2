"""Damage to cells: what they say, where they begin and end, where they stand, what they carry, how often they are there."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nbproof.lesson.from_notebook import kind_of, name_of, text_of

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


def code(text: str) -> Cell:
    """A code cell."""
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text}


def like(cell: Cell, text: str) -> Cell:
    """A copy of a cell with another text."""
    return {**copy.deepcopy(cell), "source": text}


# Cells of the learner's own, and edited ones.


def scratch_cells(work: Work) -> None:
    """Cells of the learner's own stand everywhere, also broken ones."""
    texts = ["x = 3\nx", "print('hello'", "!pip list", "%timeit 1 + 1", "", "# TODO: ask somebody"]
    for at in range(len(work.cells), 0, -work.pick.choice([2, 3])):
        work.cells.insert(at, code(work.pick.choice(texts)))


def locked_cells_edited(work: Work) -> None:
    """Tests, setup and prose were changed."""
    for cell in work.cells:
        if kind_of(cell) in ("test", "setup", "prose"):
            cell["source"] = f"{text_of(cell)}\n# my note {work.pick.randrange(100)}"


def _changed(change_cell: Callable[[Cell, Work], None]) -> Callable[[Work], None]:
    """One TODO cell is changed."""
    return lambda work: change_cell(work.cells[work.todo()], work)


def _in_code(change_text: Callable[[str], str]) -> Callable[[Work], None]:
    return _changed(lambda cell, work: cell.update(source=change_text(text_of(cell))))


def _prompts(text: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([f">>> {first}", *(f"... {line}" for line in others)])


# Cells that stand elsewhere.


def answer_below_the_stub(work: Work, left: str | None = None) -> None:
    """The answer is in a new cell below the TODO cell, which is untouched, or holds what is said."""
    at = work.todo()
    cell = work.cells[at]
    work.cells.insert(at + 1, code(text_of(cell)))
    cell["source"] = work.stubs()[name_of(cell)] if left is None else left


def _stub_and(work: Work, at: int) -> str:
    """Put the stub back into a TODO cell; what stood there."""
    cell = work.cells[at]
    answer = text_of(cell)
    cell["source"] = work.stubs()[name_of(cell)]
    return answer


def answer_below_the_check(work: Work) -> None:
    """The answer is in a new cell below the exercise's check; the TODO cell is as it was handed out."""
    at = work.todo()
    check = _next_of(work, at, "test")
    answer = _stub_and(work, at)
    work.cells.insert(len(work.cells) if check is None else check + 1, code(answer))


def answers_at_the_end(work: Work) -> None:
    """Two answers are in one new cell at the end; both TODO cells are as they were handed out."""
    chosen = sorted(work.pick.sample(work.todos(), min(2, len(work.todos()))))
    work.cells.append(code("\n\n".join(_stub_and(work, at) for at in chosen)))


def answer_in_another_cell(work: Work) -> None:
    """The answer stands below another exercise's in that one's TODO cell."""
    todos = work.todos()
    at, other = todos[0], todos[-1]
    if at != other:
        answer = _stub_and(work, at)
        work.cells[other]["source"] += f"\n\n{answer}"


def answer_in_setup_cell(work: Work) -> None:
    """The answer stands below the setup cell's own lines."""
    setup = next((cell for cell in work.cells if kind_of(cell) == "setup"), None)
    if setup is not None:
        setup["source"] = f"{text_of(setup)}\n\n{_stub_and(work, work.todo())}"


def answer_commented_out(work: Work) -> None:
    """The whole answer is commented out, in its place."""
    cell = work.cells[work.todo()]
    cell["source"] = "\n".join(f"# {line}".rstrip() for line in text_of(cell).split("\n"))


LOSE_IDS = ("colab",)
"""Where ids are lost, nothing else can be aimed at any more."""


# What another front end does to every cell.


def colab(work: Work) -> None:
    """Saved by Google Colab: no nbgrader, no cell ids, metadata of its own."""
    for cell in work.cells:
        cell["metadata"] = {"id": "".join(work.pick.choices("abcdefghijkLMNOP0123456789_-", k=12))}
        cell.pop("id", None)
    work.notebook["nbformat_minor"] = 0
    work.notebook["metadata"] = {"colab": {"provenance": []}}


def id_renamed(work: Work) -> None:
    """The id of one TODO cell was renamed."""
    grading = work.cells[work.todo()]["metadata"]["nbgrader"]
    name = str(grading["grade_id"])
    grading["grade_id"] = work.pick.choice([f"{name}-Copy1", name.upper(), name[:-1], "cell-1f0c3e"])


# Cells that are gone.


def _deleted(kind: str) -> Callable[[Work], None]:
    def change(work: Work) -> None:
        work.cells[:] = [cell for cell in work.cells if kind_of(cell) != kind]

    return change


def todo_deleted(work: Work) -> None:
    """One TODO cell is deleted."""
    work.lost.add(name_of(work.cells.pop(work.todo())))


def todos_deleted(work: Work) -> None:
    """All TODO cells are deleted."""
    work.lost |= {name_of(cell) for cell in work.cells if kind_of(cell) == "answer"}
    _deleted("answer")(work)


# Cells that are there too often.


def _copied(below: int) -> Callable[[Work], None]:
    """A TODO cell was copied before it was worked on: the stub is below the answer, or above it."""

    def change(work: Work) -> None:
        at = work.todo()
        work.cells.insert(at + below, like(work.cells[at], work.stubs()[name_of(work.cells[at])]))

    return change


# Cells that were split or merged.


def _split(parts: int, keep: Callable[[int, int], bool]) -> Callable[[Work], None]:
    def change(work: Work) -> None:
        at = work.todo(parts + 2)
        cell = work.cells[at]
        lines = text_of(cell).split("\n")
        cuts = sorted(work.pick.sample(range(1, len(lines)), min(parts - 1, len(lines) - 1)))
        ends = [0, *cuts, len(lines)]
        texts = ["\n".join(lines[a:b]).strip("\n") for a, b in itertools.pairwise(ends)]
        texts = [text for text in texts if text.strip()]
        work.cells[at : at + 1] = [
            like(cell, text) if keep(number, len(texts)) else code(text) for number, text in enumerate(texts)
        ]

    return change


def _merge(work: Work, first: int, second: int, keep: int) -> None:
    """Two cells are one, which is the one that is kept."""
    text = f"{text_of(work.cells[first])}\n\n{text_of(work.cells[second])}"
    work.cells[first] = like(work.cells[keep], text)
    del work.cells[second]


def _next_of(work: Work, at: int, kind: str) -> int | None:
    return next((number for number in range(at + 1, len(work.cells)) if kind_of(work.cells[number]) == kind), None)


def _merged_with(kind: str, keep_todo: bool) -> Callable[[Work], None]:
    """A TODO cell and the next test below it, or the setup cell, are one cell."""

    def change(work: Work) -> None:
        todo = work.todo()
        other = _next_of(work, todo if kind == "test" else -1, kind)
        if other is not None:
            first, second = sorted((todo, other))
            _merge(work, first, second, todo if keep_todo else other)

    return change


def todos_merged(work: Work) -> None:
    """The TODO cells of two exercises are one cell."""
    own = [at for at, cell in enumerate(work.cells) if kind_of(cell) == "answer"]
    if len(own) > 1:
        number = work.pick.randrange(len(own) - 1)
        _merge(work, own[number], own[number + 1], own[number])


def merged_into_prose(work: Work) -> None:
    """A TODO cell was merged into the text above it."""
    at = work.todo()
    if at and work.cells[at - 1]["cell_type"] == "markdown":
        _merge(work, at - 1, at, at - 1)


def _turned(kind: str, bare: bool = False) -> Callable[[Work], None]:
    def change(cell: Cell, work: Work) -> None:
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)
        cell.update({"cell_type": kind, "metadata": {}} if bare else {"cell_type": kind})

    return _changed(change)


CELLS: dict[str, Callable[[Work], None]] = {
    "colab": colab,
    "metadata of one lost": _changed(
        lambda cell, work: cell.update(metadata={}, id=f"{work.pick.randrange(16**8):08x}")
    ),
    "id renamed": id_renamed,
    "tests deleted": _deleted("test"),
    "prose deleted": _deleted("prose"),
    "todo deleted": todo_deleted,
    "todos deleted": todos_deleted,
    "copy is stub": _copied(1),
    "copy was worked on": _copied(0),
    "all twice": lambda work: work.cells.extend(copy.deepcopy(work.cells)),
    "split": _split(2, lambda number, of: True),
    "split, id below": _split(2, lambda number, of: number == of - 1),
    "split in three, one id": _split(3, lambda number, of: number == 0),
    "merged with test": _merged_with("test", keep_todo=True),
    "merged into test": _merged_with("test", keep_todo=False),
    "todos merged": todos_merged,
    "merged with setup": _merged_with("setup", keep_todo=True),
    "merged into setup": _merged_with("setup", keep_todo=False),
    "merged into prose": merged_into_prose,
    "todo as text": _turned("markdown"),
    "todo as text, id lost": _turned("markdown", bare=True),
    "reversed": lambda work: work.cells.reverse(),
    "todo at the end": lambda work: work.cells.append(work.cells.pop(work.todo())),
    "answer below the stub": answer_below_the_stub,
    "answer below empty cell": lambda work: answer_below_the_stub(work, left=""),
    "answer below the check": answer_below_the_check,
    "two answers at the end": answers_at_the_end,
    "answer in another cell": answer_in_another_cell,
    "answer in the setup cell": answer_in_setup_cell,
    "answer commented out": answer_commented_out,
    "scratch cells": scratch_cells,
    "locked cells edited": locked_cells_edited,
    "prompts": _in_code(_prompts),
    "lines end in CRLF": _in_code(lambda text: text.replace("\n", "\r\n")),
}
"""What is done to cells."""
