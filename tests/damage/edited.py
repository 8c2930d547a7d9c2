"""Damage to what cells say: the learner's own cells, locked cells edited, text that went through another program."""

from __future__ import annotations

from collections.abc import Callable

from nbproof.cells import kind_of, text_of
from tests.damage.work import Work, code

__all__ = ["EDITED"]


# Cells of the learner's own, and edited ones.


def scratch_cells(work: Work) -> None:
    """Cells of the learner's own stand everywhere, also broken ones."""
    texts = [
        "1 + 1",
        "x = 3\nx",
        "print('hello'",
        "!pip list",
        "%timeit 1 + 1",
        "",
        "help(print)",
        "# TODO: ask somebody",
    ]
    for at in range(len(work.cells), 0, -work.pick.choice([2, 3])):
        work.cells.insert(at, code(work.pick.choice(texts)))


def locked_cells_edited(work: Work) -> None:
    """Tests, setup and prose were changed."""
    for cell in work.cells:
        if kind_of(cell) in ("test", "setup", "prose"):
            cell["source"] = f"{text_of(cell)}\n# my note {work.pick.randrange(100)}"


def _in_code(change_text: Callable[[str], str]) -> Callable[[Work], None]:
    def change(work: Work) -> None:
        cell = work.cells[work.todo()]
        cell["source"] = change_text(text_of(cell))

    return change


def _prompts(text: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([f">>> {first}", *(f"... {line}" for line in others)])


def _numbered(text: str) -> str:
    first, *others = text.split("\n")
    return "\n".join([f"In [3]: {first}", *(f"   ...: {line}" for line in others)])


def _tabs(text: str) -> str:
    lines = []
    for line in text.split("\n"):
        inner = line.lstrip(" ")
        count, rest = divmod(len(line) - len(inner), 4)
        lines.append("\t" * count + " " * rest + inner)
    return "\n".join(lines)


EDITED: dict[str, Callable[[Work], None]] = {
    "scratch cells": scratch_cells,
    "locked cells edited": locked_cells_edited,
    "prompts": _in_code(_prompts),
    "numbered prompts": _in_code(_numbered),
    "tabs": _in_code(_tabs),
    "lines end in spaces": _in_code(lambda text: text.replace("\n", "   \n")),
    "lines end in CRLF": _in_code(lambda text: text.replace("\n", "\r\n")),
}
