"""Damage to where cells stand: reordered, or answers in cells of their own."""

from __future__ import annotations

from collections.abc import Callable

from nbproof.cells import kind_of, name_of, text_of
from tests.damage.work import NothingLeft, Work, code, text

__all__ = ["MOVED"]


# Cells that stand elsewhere.


def cells_reversed(work: Work) -> None:
    """The last cell is the first."""
    work.cells.reverse()


def cells_shuffled(work: Work) -> None:
    """All cells stand in any order."""
    work.pick.shuffle(work.cells)


def todo_at_the_end(work: Work) -> None:
    """A TODO cell was moved to the end."""
    work.cells.append(work.cells.pop(work.todo()))


def answer_below_the_stub(work: Work) -> None:
    """The answer is in a new cell below the untouched TODO cell."""
    at = work.todo()
    cell = work.cells[at]
    work.cells.insert(at + 1, code(text_of(cell)))
    cell["source"] = work.stubs()[name_of(cell)]


def answer_in_cells_below(work: Work) -> None:
    """The answer is in several new cells below the untouched TODO cell."""
    at = work.todo(6)
    cell = work.cells[at]
    blocks = [block for block in text_of(cell).split("\n\n\n") if block.strip()]
    work.cells[at + 1 : at + 1] = [code(block.strip("\n")) for block in blocks]
    cell["source"] = work.stubs()[name_of(cell)]


def answer_below_empty_cell(work: Work) -> None:
    """The TODO cell was emptied, and the answer is in a new cell below."""
    at = work.todo()
    work.cells.insert(at + 1, code(text_of(work.cells[at])))
    work.cells[at]["source"] = ""


def written_answer_below(work: Work) -> None:
    """The written answer is in a text cell of its own below the cell that was made for it."""
    at = next((at for at, cell in enumerate(work.cells) if kind_of(cell) == "written"), None)
    if at is None:
        raise NothingLeft
    cell = work.cells[at]
    work.cells.insert(at + 1, text(text_of(cell)))
    cell["source"] = next(text_of(one) for one in work.release["cells"] if kind_of(one) == "written")


MOVED: dict[str, Callable[[Work], None]] = {
    "reversed": cells_reversed,
    "shuffled": cells_shuffled,
    "todo at the end": todo_at_the_end,
    "answer below the stub": answer_below_the_stub,
    "answer in cells below": answer_in_cells_below,
    "answer below empty cell": answer_below_empty_cell,
    "written answer below": written_answer_below,
}
