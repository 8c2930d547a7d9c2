"""Answers in code that stand in text cells, between the marks that make markdown show code.

Whole text cells that hold nothing but code are pieces like all others. What stands between marks may as well be an example
or a quotation: it counts where it can be nothing else than the answer to one exercise, and is told where it may be one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbproof.recover.exported import ExportedCell
from nbproof.recover.released import Handout
from nbproof.recover.similarity import Code, Likeness, bare, line_keys

__all__ = ["Fence", "Fenced", "cut_out", "might_be_fenced"]

_MARK = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`]*)")
_BINDS = re.compile(r"^(?:async def|def|class) +(\w+)", re.MULTILINE)
_ALIKE = 0.3
"""How much code must look like an exercise to be its answer."""
_MARGIN = 0.2
"""How much more it may look like another one that shares its names, where it stands at its own."""


@dataclass(frozen=True)
class Fence:
    """Code in a text cell."""

    at: int
    """The number of its cell."""
    text: str


def _blocks(text: str) -> tuple[str, list[str]]:
    """The text without what stands between marks, and that."""
    rest: list[str] = []
    blocks: list[list[str]] = []
    mark = ""
    for line in text.splitlines():
        found = _MARK.fullmatch(line)
        if mark:
            if found and found[1][0] == mark[0] and len(found[1]) >= len(mark) and not found[2].strip():
                mark = ""
            else:
                blocks[-1].append(line)
        elif found:
            mark = found[1]
            blocks.append([])
        else:
            rest.append(line)
    return "\n".join(rest), ["\n".join(block) for block in blocks]


def might_be_fenced(handout: Handout, cells: Sequence[ExportedCell], answers: Mapping[str, str]) -> bool:
    """Whether a text cell may hold the answer of a TODO cell that nobody has worked on."""
    left = {
        name for name, stub in handout.stubs.items() if bare(answers.get(name, "")) in ("", bare(stub))
    }  # fmt: skip
    if not left:
        return False
    names = {one for name in left for one in _BINDS.findall(handout.stubs[name])}
    given = {bare(cell.source) for cell in handout.cells}
    return any(
        cell.kind != "code" and ("```" in cell.source or "~~~" in cell.source or names & set(_BINDS.findall(cell.source)))
        and bare(cell.source) not in given
        for cell in cells
    )  # fmt: skip


def cut_out(handout: Handout, cells: Sequence[ExportedCell]) -> tuple[list[ExportedCell], list[Fence]]:
    """The cells without the code that stands in text cells, and that code. A TODO cell that became text keeps its code."""
    given = {key for cell in handout.cells for key in line_keys(cell.source)}
    stubs = handout.stubs
    kept: list[ExportedCell] = []
    found: list[Fence] = []
    for at, cell in enumerate(cells):
        if cell.kind == "code" or not ("```" in cell.source or "~~~" in cell.source):
            kept.append(cell)
            continue
        rest, blocks = _blocks(cell.source)
        new = [block for block in blocks if set(line_keys(block)) - given]
        if cell.name in stubs and blocks:
            kept.append(cell._replace(source="\n\n".join(blocks)))
        elif new:
            kept.append(cell._replace(source=rest))
            found += [Fence(at, block) for block in new]
        else:
            kept.append(cell)
    return kept, found


class Fenced:
    """Whose answers these are."""

    def __init__(
        self, handout: Handout, cells: Sequence[ExportedCell], fences: Sequence[Fence], likeness: Likeness
    ) -> None:
        self.handout, self.cells, self.fences, self.likeness = handout, cells, fences, likeness
        texts = {bare(cell.source): place for place, cell in enumerate(handout.cells)}
        names = {cell.name: place for place, cell in enumerate(handout.cells) if cell.name}
        self._places = [names.get(cell.name or "", texts.get(bare(cell.source), -1)) for cell in cells]

    def answer(self, name: str) -> tuple[str, str, str]:
        """The answer to an exercise without any, how it was found, and why it was not; empty where none may be one."""
        signs = [one for one in self.fences if self._is_sign(name, one)]
        if not signs:
            return "", "", ""
        number = f"cell {signs[0].at + 1} of {len(self.cells)}"
        if len({bare(one.text) for one in signs}) == 1 and self._is_certain(name, signs[0]):
            told = f"Your answer stood in a text cell ({number}), where nothing runs, and was taken from there."
            return signs[0].text, f"The TODO cell holds no code of yours. {told}", ""
        return "", "", (
            f"The TODO cell holds no code of yours. Code in a text cell ({number}) may be the answer, which is not certain: "
            "it was not run, and a person has to look. Hand in the notebook with your code in the TODO cell."
        )  # fmt: skip

    def _is_sign(self, name: str, fence: Fence) -> bool:
        code = Code(fence.text)
        return self._alike(name, code) or (self._is_between(name, fence.at) and code.parses and bool(code.names))

    def _alike(self, name: str, code: Code) -> bool:
        return self.likeness.evident(name, code) or (
            bool(self.likeness.defined[name]) and self.likeness.defined[name] <= code.names
        )

    def _also(self, other: str, name: str, code: Code) -> bool:
        """Whether it holds something of another exercise that it does not have for this one."""
        lines = {key for key, weight in self.likeness.lines[other].items() if weight >= 0.25}
        mine = self.likeness.lines[name]
        return bool((self.likeness.defined[other] - self.likeness.defined[name]) & code.names) or bool(
            lines & {key for key in code.keys if key not in mine}
        )

    def _is_certain(self, name: str, fence: Fence) -> bool:
        code = Code(fence.text)
        bound = [one for statement in code.statements for one in statement.names]
        others = [one for one in self.handout.stubs if one != name and self._also(one, name, code)]
        scores = {one: self.likeness.of(one, bound, code.keys) for one in self.handout.stubs}
        return (
            code.parses and not others and self.likeness.whole(name, code) and self._is_between(name, fence.at)
            and scores[name] >= _ALIKE and scores[name] >= max(scores.values()) - _MARGIN
        )  # fmt: skip

    def _is_between(self, name: str, at: int) -> bool:
        """Whether it stands between the cells of the exercises before and behind, and nearer to no other one."""
        order = [
            (place, cell.exercise or cell.name) for place, cell in enumerate(self.handout.cells)
            if cell.kind in ("answer", "test")
        ]  # fmt: skip
        whose = dict(order)
        above = next((whose[one] for one in reversed(self._places[:at]) if one in whose), None)
        below = next((whose[one] for one in self._places[at + 1 :] if one in whose), None)
        return name in (above, below) and (above == name or self._first_place(name) not in self._places[:at])

    def _first_place(self, name: str) -> int:
        return next(place for place, cell in enumerate(self.handout.cells) if cell.name == name)
