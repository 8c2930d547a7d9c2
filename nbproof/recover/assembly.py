"""Of all pieces of an exercise one answer is made: of copies one counts, parts of a split cell are put together."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from nbproof.recover.fragments import NotebookSheet, Piece
from nbproof.recover.similarity import Code, bare

__all__ = ["Assembly"]


class Assembly:
    """Makes answers of the pieces of a sheet."""

    def __init__(self, sheet: NotebookSheet, cut_off: bool) -> None:
        self.sheet, self.cut_off = sheet, cut_off
        self.handout, self.likeness, self.pieces = sheet.handout, sheet.likeness, sheet.pieces

    def answer(self, name: str, stub: str, own: list[Piece]) -> tuple[str, str, str]:
        """The answer, how it was found, and why it was not."""
        if any(not piece.part.whole for piece in own) and not any(self.sheet.touched(piece) for piece in own):
            return stub, "", "The file breaks off in the middle of this TODO cell. Hand in the whole notebook."
        touched = [piece for piece in own if self.sheet.touched(piece)]
        sure = [piece for piece in touched if piece.sure]
        code = [piece for piece in sure if piece.part.kind == "code"]
        if sure:
            return self._made_of(name, code or sure, [piece for piece in own if piece.sure])
        if any(piece.part.name == name or piece.part.place is not None for piece in own):
            below = self._below_the_stub(name, stub, own)
            if below:
                return (
                    below,
                    "The TODO cell is as it was handed out. Your answer stood below it, in cells of its own.",
                    "",
                )
        if touched:
            whole = [piece for piece in touched if self.likeness.whole(name, piece.code)]
            best = max(touched, key=lambda piece: self._alike(name, piece))
            return self._made_of(name, whole or [best], own)
        if own:
            return stub, "", ""
        if self.cut_off:
            return stub, "", "The file breaks off before this TODO cell. Hand in the whole notebook."
        return stub, "", (
            "The TODO cell is missing, and no other cell holds an answer to it. "
            "Hand in the notebook with the cell in it."
        )  # fmt: skip

    def _alike(self, name: str, piece: Piece) -> float:
        names = [one for statement in piece.code.statements for one in statement.names]
        return self.likeness.of(name, names, piece.code.keys)

    def _made_of(self, name: str, touched: list[Piece], own: list[Piece]) -> tuple[str, str, str]:
        different = list({bare(piece.code.text): piece for piece in reversed(touched)}.values())[::-1]
        told = ""
        whole = [piece for piece in different if self.likeness.whole(name, piece.code)]
        if whole:
            # A part of what another copy has in full is no part of a split.
            lines = {key for piece in whole for key in piece.code.keys}
            different = [piece for piece in different if piece in whole or not set(piece.code.keys) <= lines]
        if len(different) > 1 and len(whole) < 2 and self._is_split(name, different):
            text, count = self._put_together(name, different)
            told = f"The TODO cell was split into {count} cells. They were put together again."
            return self._extended(name, text, different, told)
        if len(different) > 1:
            chosen, which = self._choice(name, different)
            told = f"The TODO cell is there more than once, and was worked on more than once. {which}"
        else:
            chosen = different[0]
            if len(own) > 1:
                told = "The TODO cell is there more than once. The one that was worked on counts."
        if chosen.part.kind != "code":
            told = f"The TODO cell had become a text cell. {told}".strip()
        if chosen.segment:
            told = f"The answer stood in one cell with something else, and was taken out of it. {told}".strip()
        elif not chosen.sure:
            told = f"The TODO cell had lost its id, and was found by its content. {told}".strip()
        text = chosen.part.text if not chosen.part.cut else chosen.code.seen
        return self._extended(name, text, [chosen], told)

    def _is_split(self, name: str, pieces: list[Piece]) -> bool:
        """Whether these are parts of one answer, and not several versions of it."""
        lines = [set(piece.code.keys) & set(self.likeness.lines[name]) for piece in pieces]
        for one, other in itertools.combinations(lines, 2):
            rare = [key for key in one & other if self.likeness.lines[name][key] > 0.05]
            if len(rare) > 1 and 2 * len(rare) >= min(len(one), len(other)):
                return False
        return True

    def _put_together(self, name: str, pieces: list[Piece]) -> tuple[str, int]:
        """In the order in which they stand, unless only another order makes sense."""
        orders = itertools.permutations(pieces) if len(pieces) <= 4 else [tuple(pieces)]
        texts = [_joined([piece.part.text for piece in order]) for order in orders]
        best = max(range(len(texts)), key=lambda number: (self._sense(name, texts[number]), -number))
        return texts[best], len(pieces)

    def _sense(self, name: str, text: str) -> tuple[bool, bool, bool, int]:
        """Whether it begins, is Python, defines what is asked for, and how many stub lines stand in order."""
        code = Code(text)
        order = self.likeness.stubs[name].keys
        seen = [order.index(key) for key in code.keys if key in order]
        return (
            not code.indented,
            code.parses,
            self.likeness.whole(name, code),
            sum(a <= b for a, b in itertools.pairwise(seen)),
        )

    def _choice(self, name: str, pieces: list[Piece]) -> tuple[Piece, str]:
        """Of several versions the one that the check saw, when the notebook ran from top to bottom."""
        tests = {
            place for place, cell in enumerate(self.handout.cells) if cell.kind == "test" and cell.exercise == name
        }
        check = next((p.at for p in self.pieces if p.part.place in tests and p.at > pieces[0].at), None)
        if check is None:
            return pieces[0], "The first counts."
        above = [piece for piece in pieces if piece.at < check]
        return above[-1], "The one directly above its check counts, which the check sees in Run All."

    def _extended(self, name: str, text: str, pieces: list[Piece], told: str) -> tuple[str, str, str]:
        """With cells around it that are the rest of it: older Jupyters give one half of a split cell no id."""
        added, before, texts = 0, text, [text]
        for step, at in ((1, max(piece.at for piece in pieces)), (-1, min(piece.at for piece in pieces))):
            at += step
            while 0 <= at < len(self.pieces) and self._may_continue(name, self.pieces[at], pieces):
                piece = self.pieces[at]
                both = [text, piece.part.text] if step > 0 else [piece.part.text, text]
                if not self._belongs(name, text, piece, both) and not self._goes_on(name, text, at + step, pieces):
                    break
                texts = [*texts, piece.part.text] if step > 0 else [piece.part.text, *texts]
                text, piece.label, added, at = "\n".join(texts), name, added + 1, at + step
        text = _joined(texts) if added else text
        if added and Code(before).parses and not Code(text).parses:
            return before, told, ""
        if added:
            told = f"The TODO cell was split into {added + len(pieces)} cells. They were put together again."
        return text, told, ""

    def _goes_on(self, name: str, text: str, at: int, pieces: list[Piece]) -> bool:
        """Whether the cell behind has the function or class that is still missing: then helpers stand in between."""
        if not 0 <= at < len(self.pieces) or not self._may_continue(name, self.pieces[at], pieces):
            return False
        missing = self.likeness.defined[name] - Code(text).names
        return bool(missing & self.pieces[at].code.names)

    def _may_continue(self, name: str, piece: Piece, pieces: list[Piece]) -> bool:
        """Whether it is a cell without an id that is no answer by itself."""
        fragment = piece.label == name and not piece.sure and not self.likeness.whole(name, piece.code)
        return (
            piece.part.kind == "code" and piece not in pieces and (piece.free or (fragment and piece.part.name is None))
        )

    def _belongs(self, name: str, text: str, piece: Piece, both: list[str]) -> bool:
        code, joined = Code(text), Code("\n".join(both))
        later = piece.code if both[1] == piece.part.text else code
        missing = set(self.likeness.names[name]) - code.names
        rare = {key for key, weight in self.likeness.lines[name].items() if weight >= 0.25} - set(code.keys)
        return (
            later.indented
            or (not code.parses and joined.parses)
            or bool(missing & piece.code.names)
            or bool(rare & set(piece.code.keys))
            or (
                later is piece.code
                and self.likeness.tail_missing(name, code)
                and self._mentions(piece.code, code.names)
            )
        )

    def _mentions(self, code: Code, names: frozenset[str]) -> bool:
        return any(re.search(rf"\b{re.escape(name)}\b", code.seen) for name in names)

    def _below_the_stub(self, name: str, stub: str, own: list[Piece]) -> str:
        """The code of new cells between an untouched TODO cell and the next released one; empty where it is no answer."""
        anchor = next(piece for piece in own if piece.part.name == name or piece.part.place is not None)
        new = list(itertools.takewhile(
            lambda piece: (piece.free or piece.label == name) and piece.part.kind == "code", self.pieces[anchor.at + 1 :]
        ))  # fmt: skip
        new = self._of_use(name, new) or [piece for piece in own if self.sheet.touched(piece)][:1]
        code = Code("\n\n".join(piece.code.seen for piece in new))
        if not self.likeness.defined[name] & code.names:
            return ""
        for piece in new:
            piece.label = name
        # What the stub prepares, and the new cells go on with.
        first = self.likeness.stubs[name]
        prepared = []
        for statement in first.statements:
            if statement.defines:
                break
            if statement.assigns and not statement.assigns & code.names and self._mentions(code, statement.assigns):
                prepared.append(first.cut(statement.first, statement.last))
        if len(new) == 1 and not prepared:
            return new[0].part.text
        return "\n".join([*prepared, code.text])

    def _of_use(self, name: str, new: list[Piece]) -> list[Piece]:
        """Those of the new cells that show signs of the exercise, or go on with what such a cell has made."""
        kept: list[Piece] = []
        bound: set[str] = set()
        for piece in new:
            if set(self.likeness.names[name]) & piece.code.names or (
                bound and self._mentions(piece.code, frozenset(bound))
            ):
                kept.append(piece)
                bound |= piece.code.names
        # And helpers that these use.
        return [p for p in new if p in kept or any(self._mentions(one.code, p.code.names) for one in kept)]


def _joined(texts: Sequence[str]) -> str:
    """Cells as one: on lines of their own, unless the cut went through a line."""
    whole = "\n".join(texts)
    if Code(whole).parses or len(texts) > 5:
        return whole
    for joints in itertools.product(("\n", ""), repeat=len(texts) - 1):
        text = texts[0] + "".join(joint + part for joint, part in zip(joints, texts[1:], strict=True))
        if Code(text).parses:
            return text
    return whole
