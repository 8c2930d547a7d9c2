"""Finds the answers in one submission: by an id, by the names that they define, or by their place; else a person has to
look.

We trust the ids of cells. If the cell of an exercise is gone, code counts as its answer if it stands in its place, or is the
only code that defines what the exercise asks for. What may be an answer, and is not certain to be one, is brought as
comments, has no marks, and waits for a person. Whoever left the TODO cell in its place is graded as *Run All* goes:
other cells run where they stand (:mod:`nbproof.recover.pieces`). This runs in a sealed worker, and imports little.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from nbproof.cells import CellKind
from nbproof.recover.answers import Answers
from nbproof.recover.asked import binds, is_commented_out
from nbproof.recover.fast_path import as_handed_in
from nbproof.recover.matching import NEWER, alone, bare, newer_than
from nbproof.recover.notebook_bytes import Damaged, ExportedCell, has_marks, plain_cells, salvaged
from nbproof.recover.pieces import Piece, Pieces, own_cells
from nbproof.recover.released import Handout
from nbproof.recover.waiting import NOT_CERTAIN, as_comments
from nbproof.recover.writings import bring

__all__ = ["find_answers", "found_in"]


_MOST_ANSWERS = 2_000_000
"""Characters of all answers: more does not come back from a worker."""
_MOST_STRAYS = 1_000
"""Of cells without an id of this lesson: ten times what a lesson has."""
_DISTINCT = 80
"""Characters of a released text that no other lesson has by chance."""
_MOST_JOINED = 3
"""Cells above or below a half of a split cell that may be the rest of it."""
_BY_PLACE = "The TODO cell had lost its id, and was found by its place."


def found_in(handout: Handout, data: bytes) -> Answers:
    """What is found in the bytes of one submission. Raises Damaged."""
    cells: Sequence[ExportedCell] | None = plain_cells(data)
    damage = ""
    if not cells:
        read = salvaged(data)
        cells, damage = read.cells, read.damage
    answers = as_handed_in(handout, cells)
    found = Answers(answers, own=own_cells(handout, cells)) if answers is not None else find_answers(handout, cells)
    if sum(map(len, found.answers.values())) > _MOST_ANSWERS:
        raise Damaged("its answers are longer than any that this course asks for")
    return replace(found, damage=damage)


def find_answers(handout: Handout, cells: Sequence[ExportedCell]) -> Answers:
    """Search everywhere, among a thousand cells of nobody's. Raises Damaged if the cells are none of this lesson's."""
    known = {cell.name for cell in handout.cells if cell.name}
    strays = itertools.count()
    looked_at = [cell for cell in cells if cell.name in known or next(strays) < _MOST_STRAYS]
    return _Search(handout, looked_at).go()


class _Search:
    def __init__(self, handout: Handout, cells: Sequence[ExportedCell]) -> None:
        self.handout, self.cells = handout, cells
        self.cut_off = bool(cells) and not cells[-1].whole
        self.pieces = Pieces(handout, cells)
        self.asked, self.named = self.pieces.asked, self.pieces.named
        self.found = Answers(dict(handout.stubs))

    def go(self) -> Answers:
        found, handout = self.found, self.handout
        self._refuse_another(any(cell.name for cell in self.cells) or self._shows_prose())
        for name, own in self.named.items():
            if own:
                self._of_its_cell(name, own)
        for here in (True, False):
            for name in self.pieces.missing:
                self._without_its_cell(name, here=here)
        for name in self.named:
            if not self._has_answer(name):
                self._elsewhere(name)
        for name, stub in handout.written.items():
            self._written(name, stub)
        touched = any(map(self._is_touched, found.answers))
        self._refuse_another(len(found.lost) == len(found.answers) and not touched)
        for name, brought in bring(handout, self.cells, found.answers).items():
            found.answers[name] = brought.text
            found.recovered[name] = f"{found.recovered.get(name, '')} {brought.told}".strip()
            found.lost.pop(name, None)
        lost = [name for name in found.lost if not self._is_touched(name)]
        newer = () if self.cut_off else newer_than(handout, self.cells, lost)
        found.lost.update(dict.fromkeys(newer, NEWER))
        return replace(found, own=own_cells(handout, self.cells, self.pieces.used), newer=newer)

    def _shows_prose(self) -> bool:
        return sum(cell.kind == "markdown" and len(bare(cell.source)) >= _DISTINCT for cell in self.cells) > 1

    def _refuse_another(self, holds_nothing: bool) -> None:
        """Raise Damaged if nothing of this lesson is in it, where it ``holds_nothing`` that could be an answer."""
        known = zip(self.cells, self.pieces.places, strict=True)
        if not holds_nothing or any(place is not None and self._is_distinct(cell, place) for cell, place in known):
            return
        heads = [line for cell in self.cells if cell.kind == "markdown" for line in cell.source.splitlines()]
        title = next((line.strip("# ").strip()[:80] for line in heads if line.startswith("# ")), "")
        which = f"another notebook ({title!r})" if title else "another notebook"
        raise Damaged(
            f"it is {which}: none of its {len(self.cells)} cells belongs to {self.handout.lesson}. "
            "Hand in the notebook of this lesson"
        )

    def _is_distinct(self, cell: ExportedCell, place: int) -> bool:
        """Whether it can only come from this lesson. All lessons may call their setup cell the same."""
        released = self.handout.cells[place]
        long = len(bare(released.source)) >= _DISTINCT and bare(released.source) in bare(cell.source)
        return released.kind not in (CellKind.SETUP, CellKind.SHOW) and (
            long or bool(released.name and cell.name == released.name)
        )

    def _is_touched(self, name: str) -> bool:
        """Whether there is something of the learner's in its place by now."""
        return self.found.answers[name] not in ("", {**self.handout.stubs, **self.handout.written}[name])

    def _has_answer(self, name: str) -> bool:
        """Whether something is judged as its answer."""
        return name not in self.found.lost and (name in self.found.recovered or self._is_touched(name))

    # The TODO cell is there, by its id or because it is as it was handed out.

    def _of_its_cell(self, name: str, own: list[Piece]) -> None:
        stub = bare(self.handout.stubs[name])
        worked = [piece for piece in own if piece.whole and bare(piece.text) not in ("", stub)]
        worked = list({bare(piece.text): piece for piece in reversed(worked)}.values())[::-1]
        if not worked and not all(piece.whole for piece in own):
            self.found.lost[name] = "The file breaks off in the middle of this TODO cell. Hand in the whole notebook."
        elif not worked:
            self._below_the_stub(name)
        elif any(has_marks(piece.text) for piece in worked):
            self._wait(name, worked, "Two versions were merged in the TODO cell.")
        elif all(is_commented_out(self.asked[name], self.handout.stubs[name], piece.text) for piece in worked):
            self._wait(name, worked, "The TODO cell holds code in comments only.")
        elif len(worked) > 1:
            self._of_several(name, worked)
        else:
            told = "" if self.cells[worked[0].at].name == name else _BY_PLACE
            more = "The TODO cell is there more than once. The one that was worked on counts." if len(own) > 1 else ""
            self._accept(name, worked, f"{told} {more}".strip())

    def _of_several(self, name: str, worked: list[Piece]) -> None:
        """Halves of a split cell go together; of several versions the one counts that the check sees in Run All."""
        check = self.pieces.check_below(name, worked[0])
        above = [piece for piece in worked if check is None or piece.at < check]
        if len(above) > 1 and self._are_halves(above):
            self._accept(name, above, f"The TODO cell was split into {len(above)} cells. They were put together again.")
        elif check is None:
            self._wait(name, worked, "The TODO cell was worked on more than once, and its check does not stand below.")
        else:
            told = "The TODO cell is there more than once, and was worked on more than once. The one directly above its check"
            self.pieces.strays += [piece for piece in worked if piece is not above[-1]]
            self._accept(name, above[-1:], f"{told} counts, which the check sees in Run All.")

    def _are_halves(self, pieces: list[Piece]) -> bool:
        """Whether they are Python only together, or bind no name twice."""
        count = sum(alone(piece.text) for piece in pieces)
        bound = [name for piece in pieces for name in piece.names[1]]
        apart = len(set(bound)) == len(bound)
        return count == 0 or ((apart or count < len(pieces)) and alone("\n".join(piece.text for piece in pieces)))

    def _below_the_stub(self, name: str) -> None:
        """Nobody has worked in the TODO cell. Code cells between it and its check run where they stand."""
        asked = self.asked[name]
        below = [piece for piece in self.pieces.free() if piece.kind == "code" and self.pieces.is_below(piece, name)]
        whole = [piece for piece in below if asked.bound and asked.bound <= piece.names[1]]
        told = "The TODO cell is as it was handed out."
        if len(whole) == 1 and not self._also(name, whole[0]):
            self._accept(name, whole, f"{told} Your answer stood below it, in a cell of its own.")
        elif any(asked.blank & binds(piece.text) for piece in below):
            self.found.recovered[name] = f"{told} Your code stood below it, in cells of its own, and ran there."

    # The TODO cell is gone.

    def _without_its_cell(self, name: str, *, here: bool) -> None:
        """Code that binds all that the exercise asks for, if no other code does. ``here``: in its part of the notebook;
        elsewhere only functions and classes tell, and none that another TODO cell which is gone asks for as well.
        """
        asked, open_ = self.asked[name], [one for one in self.pieces.missing if one not in self.found.recovered]
        if name not in open_:
            return
        if here:
            pieces = self._near(name)
        elif asked.functions and not any(asked.functions & self.asked[one].functions for one in open_ if one != name):
            pieces = self.pieces.free()
        else:
            return
        fits = [piece for piece in pieces if asked.is_answered_by(piece.names)]
        if len({bare(piece.text) for piece in fits}) == 1 and not self._also(name, fits[0]):
            self._accept(
                name, fits[:1], _BY_PLACE if here else "The TODO cell had lost its id, and was found by its content."
            )

    # There is no answer so far.

    def _elsewhere(self, name: str) -> None:
        """Where something of the learner's own may be the answer, a person looks. Nobody gets 0 for it without a word."""
        gone = name in self.pieces.missing
        why = "The TODO cell is missing." if gone else "The TODO cell holds no code of yours."
        near = [piece for piece in self._near(name) if gone and piece.kind == "code"]
        signs = [piece for piece in self._others(name) if piece in near or self._may_answer(name, piece)]
        held = [other for other, own in self.named.items() if any(piece in own for piece in signs)]
        if held:
            why += (
                f" Code that may be the answer stands in the TODO cell of {' and '.join(f'`{one}`' for one in held)}."
            )
        if signs:
            self._wait(name, signs, why)
        elif gone and self.cut_off:
            self.found.lost.setdefault(name, "The file breaks off before this TODO cell. Hand in the whole notebook.")
        elif gone:
            told = f"{why[:-1]}, and no other cell holds an answer to it. Hand in the notebook with the cell in it."
            self.found.lost.setdefault(name, told)
        for other in held:
            if self.asked[name].bound & self.asked[other].bound:
                theirs = [piece for piece in signs if piece in self.named[other]]
                self._wait(other, theirs, f"The TODO cell holds code for `{name}` as well.")

    def _others(self, name: str) -> list[Piece]:
        """All texts but its own TODO cell, in their order."""
        todos = [piece for other, own in self.named.items() if other != name for piece in own]
        return sorted([*self.pieces.strays, *todos], key=lambda piece: piece.at)

    def _may_answer(self, name: str, piece: Piece) -> bool:
        """By what it binds. What belongs to an exercise that has an answer says nothing about the names of that one."""
        whose = self.pieces.whose(piece)
        bound = self.pieces.added(piece)
        if whose in self.named and whose != name and self._has_answer(whose):
            bound -= self.asked[whose].bound
        return self.asked[name].may_be(bound, here=whose == name)

    # What all of these rest on.

    def _near(self, name: str) -> list[Piece]:
        return [piece for piece in self.pieces.free() if self.pieces.whose(piece) == name]

    def _also(self, name: str, piece: Piece) -> bool:
        """Whether it defines something of another exercise that has no answer yet, and is nothing of this one."""
        open_ = [one for one in self.named if one != name and not self._is_touched(one)]
        mine = self.asked[name].bound
        return any((self.asked[one].functions - mine) & piece.names[0] for one in open_)

    def _accept(self, name: str, parts: Sequence[Piece], told: str) -> None:
        if len(parts) == 1 and (halves := self._with_halves(parts[0])):
            parts, told = halves, f"The TODO cell was split into {len(halves)} cells. They were put together again."
        if parts[0].kind == "text":
            told = f"The TODO cell had become a text cell. {told}".strip()
        self.pieces.used |= dict.fromkeys((piece.at for piece in parts), self.pieces.index[name])
        self.found.answers[name] = _joined(parts)[0]
        if told:
            self.found.recovered[name] = told

    def _with_halves(self, piece: Piece) -> Sequence[Piece]:
        """A piece and cells of nobody's beside it, if only together they are Python; empty if that is not so."""
        above, below = (self.pieces.halves(piece.at, step, _MOST_JOINED) for step in (-1, 1))
        if all(alone(one.text) for one in (piece, *above, *below)):
            return ()
        counts = itertools.product(range(len(above) + 1), range(len(below) + 1))
        tried = ([*reversed(above[:up]), piece, *below[:down]] for up, down in sorted(counts, key=sum)[1:])
        return next((parts for parts in tried if _joined(parts)[1]), ())

    def _wait(self, name: str, pieces: Sequence[Piece], why: str) -> None:
        """Leave it to a person: what was found stands in the TODO cell as comments, and has no marks."""
        numbers = self.pieces.numbers(pieces)
        self.found.recovered.pop(name, None)
        self.found.lost[name] = f"{why} Code in {numbers} {NOT_CERTAIN}"
        texts = dict.fromkeys(f"[{self.pieces.numbers([piece])}]\n{piece.text}" for piece in pieces)
        self.found.answers[name] = as_comments(texts)

    # Written answers are text.

    def _written(self, name: str, stub: str) -> None:
        known = zip(self.cells, self.pieces.places, strict=True)
        here = [cell for cell, place in known if place == self.pieces.index[name]]
        touched = [
            cell.source for cell in here if cell.whole and cell.source.strip() and bare(cell.source) != bare(stub)
        ]
        self.found.answers[name] = next(iter(touched or [cell.source for cell in here]), stub)
        if not here:
            self.found.lost[name] = (
                "The cell for the written answer is missing. Hand in the notebook with the cell in it."
            )


def _joined(parts: Sequence[Piece]) -> tuple[str, bool]:
    """The text of all, and whether it is Python by itself. A cell may have been cut within a line."""
    texts = [piece.text for piece in parts]
    whole = [text for text in ("\n".join(texts), "".join(texts)) if alone(text)]
    return (whole[0], True) if whole else ("\n".join(texts), False)
