"""Finds the answers among the cells of a damaged submission: by id, by what they define and keep of the stub, by place.

An id is believed. Without one, a piece of code counts for the one exercise that it looks most like, once, and only if
it looks enough like it. Of an answer only the text is taken. Runs in a sealed worker (:mod:`nbproof.marking.reading`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from nbproof.recover.assembly import Assembly
from nbproof.recover.elsewhere import bring
from nbproof.recover.exported import ExportedCell
from nbproof.recover.fences import Fenced, cut_out
from nbproof.recover.fragments import DISTINCT, NotebookSheet, Piece
from nbproof.recover.newer import NEWER, newer_than
from nbproof.recover.own_cells import OwnCell, bounded
from nbproof.recover.released import Handout
from nbproof.recover.similarity import Code, bare
from nbproof.recover.splitting import Part
from nbproof.recover.unpacking import Damaged
from nbproof.recover.writings import without_half_a_line

__all__ = ["Found", "find_answers"]


_MOST_STRAYS = 1_000
"""Of cells without an id of this lesson: ten times what a lesson has."""


@dataclass
class Found:
    """The answers by grade_id, and in a sentence for the learner how each was found, or why it was not."""

    answers: dict[str, str] = field(default_factory=dict)
    recovered: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)
    own: tuple[OwnCell, ...] = ()
    """What is code and no part of an answer."""
    newer: tuple[str, ...] = ()
    """Of what is lost, what the learner's notebook never had."""


def find_answers(handout: Handout, cells: Sequence[ExportedCell], cut_off: bool = False) -> Found:
    """Search everywhere, among a thousand cells of nobody's. Raises Damaged where the cells are none of this lesson's."""
    known = {cell.name for cell in handout.cells if cell.name}
    strays = itertools.count()
    looked_at = [cell for cell in cells if cell.name in known or next(strays) < _MOST_STRAYS]
    return _Search(handout, looked_at, cut_off).go()


class _Search:
    def __init__(self, handout: Handout, cells: Sequence[ExportedCell], cut_off: bool) -> None:
        self.handout, self.cells = handout, cells
        pieces, fences = cut_out(handout, cells)
        self.sheet = NotebookSheet(handout, pieces)
        self.fenced = Fenced(handout, cells, fences, self.sheet.likeness)
        self.pieces = self.sheet.pieces
        self.assembly = Assembly(self.sheet, cut_off)
        self.found = Found()

    def go(self) -> Found:
        prose = [cell for cell in self.cells if cell.kind == "markdown" and len(bare(cell.source)) >= DISTINCT]
        if self.sheet.stranger and (len(prose) > 1 or any(cell.name for cell in self.cells)):
            raise self._another()
        for name, stub in self.handout.stubs.items():
            own = [piece for piece in self.pieces if piece.label == name]
            text, told, lost = self.assembly.answer(name, stub, own)
            if bare(text) in ("", bare(stub)):
                fenced, found, unsure = self.fenced.answer(name)
                if fenced or unsure:
                    text, told, lost = fenced or text, found, unsure
            self.found.answers[name] = text
            if lost:
                self.found.lost[name] = lost
            elif told and bare(text) != bare(stub):
                self.found.recovered[name] = told
        for name, stub in self.handout.written.items():
            self._written(name, stub)
        self._refuse_strangers()
        cut_off = self.assembly.cut_off and bool(self.cells)
        cells = without_half_a_line(self.handout, self.cells) if cut_off else self.cells
        for name, brought in bring(self.handout, cells, self.found.answers).items():
            self.found.answers[name] = brought.text
            self.found.recovered[name] = f"{self.found.recovered.get(name, '')} {brought.told}".strip()
            self.found.lost.pop(name, None)
        self.found.own = self._own_cells()
        if not self.assembly.cut_off:
            self.found.newer = newer_than(self.handout, self.cells, self.found.lost)
            self.found.lost |= dict.fromkeys(self.found.newer, NEWER)
        return self.found

    def _own_cells(self) -> tuple[OwnCell, ...]:
        """Code of nobody's, and released cells that show something else now."""
        own, above = [], -1
        for piece in self.pieces:
            part, place = piece.part, piece.part.place
            own_name = part.name in self.sheet.index
            taken = piece.label is not None and (own_name or self._is_in_the_answer(piece))
            if place is None and taken:
                place = self.sheet.index[piece.label or ""]
            above = above if place is None else place
            if part.kind != "code" or not part.text.strip() or not part.whole:
                continue
            if part.place is not None:
                released = self.handout.cells[part.place]
                if released.kind in ("show", "setup") and bare(part.text) != bare(released.source):
                    own.append(OwnCell(part.text, above, part.place))
            elif not taken and not own_name:
                own.append(OwnCell(part.text, above))
        return bounded(own)

    def _is_in_the_answer(self, piece: Piece) -> bool:
        """Whether a piece of an exercise is a part of its answer, or another version of one: not a helper beside it."""
        answer = self.found.answers[piece.label or ""]
        names = piece.code.names
        return not names or bool(names & Code(answer).names) or bare(piece.part.text) in bare(answer)

    def _refuse_strangers(self) -> None:
        if self.sheet.stranger and len(self.found.lost) == len(self.handout.stubs) + len(self.handout.written):
            raise self._another()

    def _another(self) -> Damaged:
        heads = [line for cell in self.cells if cell.kind == "markdown" for line in cell.source.splitlines()]
        title = next((line.strip("# ").strip()[:80] for line in heads if line.startswith("# ")), "")
        which = f"another notebook ({title!r})" if title else "another notebook"
        return Damaged(
            f"it is {which}: none of its {len(self.cells)} cells belongs to {self.handout.lesson}. "
            "Hand in the notebook of this lesson"
        )

    # Written answers are text.

    def _written(self, name: str, stub: str) -> None:
        own = [piece for piece in self.pieces if piece.part.name == name]
        place = self.sheet.index[name]
        touched = [piece for piece in own if piece.part.place is None and piece.part.text.strip() and piece.part.whole]
        if own:
            self.found.answers[name] = (touched or own)[0].part.text
            return
        if any(piece.part.place == place for piece in self.pieces):
            self.found.answers[name] = stub
            return
        near = [
            piece for piece in self.pieces
            if piece.label is None and piece.part.place is None and piece.part.name is None
            and _is_prose(piece.part) and piece.part.whole
            and (self.sheet.nearness(piece, place) >= 0.5 or bare(stub) in bare(piece.part.text))
        ]  # fmt: skip
        self.found.answers[name] = _prose(near[0].part) if near else stub
        if near:
            self.found.recovered[name] = "The cell had lost its id, and was found by its place."
        else:
            self.found.lost[name] = (
                "The cell for the written answer is missing. Hand in the notebook with the cell in it."
            )


def _is_prose(part: Part) -> bool:
    """Whether it is text. In a script text stands in comments."""
    lines = [line for line in part.text.splitlines() if line.strip()]
    return bool(lines) and (part.kind != "code" or all(line.startswith("#") for line in lines))


def _prose(part: Part) -> str:
    lines = part.text.splitlines()
    return part.text if part.kind != "code" else "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)
