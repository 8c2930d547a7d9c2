"""Damage to where a cell begins and ends, and to its type: split, merged, turned into text."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from nbproof.cells import kind_of, text_of
from tests.damage.work import Work, code, like

__all__ = ["SPLIT_AND_MERGED"]


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


def _merge(work: Work, first: int, second: int, keep: int, **other: Any) -> None:
    text = f"{text_of(work.cells[first])}\n\n{text_of(work.cells[second])}"
    merged = like(work.cells[keep], text, **other)
    for at in sorted((first, second), reverse=True):
        del work.cells[at]
    work.cells.insert(min(first, second), merged)


def _next_of(work: Work, at: int, kind: str) -> int | None:
    return next((number for number in range(at + 1, len(work.cells)) if kind_of(work.cells[number]) == kind), None)


def _merged_with_test(keep_first: bool) -> Callable[[Work], None]:
    def change(work: Work) -> None:
        at = work.todo()
        test = _next_of(work, at, "test")
        if test is not None:
            _merge(work, at, test, at if keep_first else test)

    return change


def todos_merged(work: Work) -> None:
    """The TODO cells of two exercises are one cell."""
    own = [at for at, cell in enumerate(work.cells) if kind_of(cell) == "answer"]
    if len(own) > 1:
        number = work.pick.randrange(len(own) - 1)
        _merge(work, own[number], own[number + 1], own[number])


def _merged_with_setup(keep_setup: bool) -> Callable[[Work], None]:
    def change(work: Work) -> None:
        setup = next((at for at, cell in enumerate(work.cells) if kind_of(cell) == "setup"), None)
        todo = work.todo()
        if setup is not None:
            _merge(work, setup, todo, setup if keep_setup else todo)

    return change


def merged_into_prose(work: Work) -> None:
    """A TODO cell was merged into the text above it."""
    at = work.todo()
    if at and work.cells[at - 1]["cell_type"] == "markdown":
        _merge(work, at - 1, at, at - 1)


def _turned(kind: str, bare: bool = False) -> Callable[[Work], None]:
    def change(work: Work) -> None:
        cell = work.cells[work.todo()]
        cell["cell_type"] = kind
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)
        if bare:
            cell["metadata"] = {}

    return change


SPLIT_AND_MERGED: dict[str, Callable[[Work], None]] = {
    "split": _split(2, lambda number, of: True),
    "split, id below": _split(2, lambda number, of: number == of - 1),
    "split, id above": _split(2, lambda number, of: number == 0),
    "split in three": _split(3, lambda number, of: True),
    "split in three, one id": _split(3, lambda number, of: number == 0),
    "merged with test": _merged_with_test(True),
    "merged into test": _merged_with_test(False),
    "todos merged": todos_merged,
    "merged with setup": _merged_with_setup(False),
    "merged into setup": _merged_with_setup(True),
    "merged into prose": merged_into_prose,
    "todo as text": _turned("markdown"),
    "todo as raw": _turned("raw"),
    "todo as text, id lost": _turned("markdown", bare=True),
}
