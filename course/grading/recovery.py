"""Finds the answers among the cells of a damaged submission: by id, by what they define and keep of the stub, by place.

An id is believed. Without one, a piece of code counts for the one exercise that it looks most like, once, and only if
it looks enough like it. Of an answer only the text is taken. Runs in a sealed worker (:mod:`course.grading.reading`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from course.grading.cutting import Part, anchored, segments
from course.grading.exported import Cell
from course.grading.handout import Handout
from course.grading.likeness import Code, Likeness, bare
from course.grading.unwrapping import Damaged

__all__ = ["Found", "find_answers"]


@dataclass
class Found:
    """The answers by grade_id, and in a sentence for the learner how each was found, or why it was not."""

    answers: dict[str, str] = field(default_factory=dict)
    recovered: dict[str, str] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


def find_answers(handout: Handout, cells: Sequence[Cell], cut_off: bool = False) -> Found:
    """Search everywhere. Raises Damaged where the cells are none of this lesson's."""
    return _Search(handout, cells, cut_off).go()


@dataclass
class _Piece:
    at: int
    """Its place in the submission."""
    part: Part
    code: Code
    label: str | None = None
    """The exercise that it belongs to."""
    sure: bool = False
    """Whether an id says so."""
    segment: bool = False
    """Whether it was cut out of more."""

    @property
    def free(self) -> bool:
        return self.label is None and self.part.place is None and self.part.name is None and bool(self.code.lines)


_ENOUGH, _MARGIN = 0.3, 0.03
"""How much a piece without an id must look like an exercise, and how much more than like any other."""
_DISTINCT = 80
"""Characters of a released text that no other lesson has by chance."""


class _Search:
    def __init__(self, handout: Handout, cells: Sequence[Cell], cut_off: bool) -> None:
        self.handout, self.cut_off = handout, cut_off
        self.likeness = Likeness(handout)
        self.stubs = handout.stubs
        self.index = {cell.name: place for place, cell in enumerate(handout.cells) if cell.name}
        self.cells = cells
        parts = anchored(handout, cells)
        self.named = {part.name for part in parts if part.name and part.name != "?"}
        self.pieces = self._cut(parts)
        self.present = {piece.part.place for piece in self.pieces if piece.part.place is not None}
        self.found = Found()

    def go(self) -> Found:
        self._label()
        for name, stub in self.stubs.items():
            own = [piece for piece in self.pieces if piece.label == name]
            text, told, lost = self._resolve(name, stub, own)
            self.found.answers[name] = text
            if lost:
                self.found.lost[name] = lost
            elif told and bare(text) != bare(stub):
                self.found.recovered[name] = told
        for name, stub in self.handout.written.items():
            self._written(name, stub)
        self._refuse_strangers()
        return self.found

    def _refuse_strangers(self) -> None:
        if len(self.found.lost) < len(self.stubs) + len(self.handout.written) or self.named:
            return
        places = [self.handout.cells[piece.part.place] for piece in self.pieces if piece.part.place is not None]
        if any(cell.kind in ("prose", "test") and len(bare(cell.source)) >= _DISTINCT for cell in places):
            return
        heads = [line for cell in self.cells if cell.kind == "markdown" for line in cell.source.splitlines()]
        title = next((line.strip("# ").strip()[:80] for line in heads if line.startswith("# ")), "")
        which = f"another notebook ({title!r})" if title else "another notebook"
        raise Damaged(
            f"it is {which}: none of its {len(self.cells)} cells belongs to {self.handout.lesson}. "
            "Hand in the notebook of this lesson"
        )

    # Cells become pieces, each of one exercise at most.

    def _cut(self, parts: Sequence[Part]) -> list[_Piece]:
        pieces: list[_Piece] = []
        wanted = [name for name in self.stubs if name not in self.named]
        released = {self.handout.cells[part.place].name for part in parts if part.place is not None}
        open_ = [name for name in self.stubs if name in wanted or self._is_open(name, parts)]
        wanted = [name for name in wanted if name not in released]
        for part in parts:
            code = Code(part.text)
            own = part.name if part.name in self.stubs else None
            if part.place is not None:
                cell = self.handout.cells[part.place]
                label = cell.name if cell.kind == "answer" else None
                pieces.append(_Piece(len(pieces), part, Code(cell.source), label, part.name == label is not None))
                continue
            if part.name in self.handout.written or part.name == "?" or not part.whole:
                pieces.append(_Piece(len(pieces), part, code, own, own is not None))
                continue
            others = wanted if own else open_
            labels = [
                *([own] if own else []),
                *(name for name in others if name != own and self.likeness.evident(name, code)),
            ]
            if len(labels) < 2:
                pieces.append(_Piece(len(pieces), part, code, own, own is not None, part.cut))
                continue
            cuts = segments(code, labels, self.likeness, own)
            for label, text in cuts:
                alone = len(cuts) == 1
                piece = part if alone else Part(text, None, part.kind)
                sure = own is not None and label == own
                # Of an unnamed cell that stays whole, the search for labels decides with all that it knows.
                kept = label if own or not alone else None
                pieces.append(
                    _Piece(len(pieces), piece, code if alone else Code(text), kept, sure, part.cut or not alone)
                )
        return pieces

    def _is_open(self, name: str, parts: Sequence[Part]) -> bool:
        """Whether all TODO cells with this id are as handed out: then the answer may stand elsewhere."""
        own = [part for part in parts if part.name == name]
        return all(part.place is not None or not part.text.strip() for part in own)

    # Pieces without an id are labelled by what they look like.

    def _label(self) -> None:
        open_ = [
            name for name in self.stubs
            if not any(piece.label == name and self._touched(piece) for piece in self.pieces)
        ]  # fmt: skip
        offers = []
        for piece in self.pieces:
            if piece.free and piece.part.whole:
                keys = piece.code.keys
                names = [name for statement in piece.code.statements for name in statement.names]
                bare_scores = {name: self.likeness.of(name, names, keys) for name in self.stubs}
                shown = self._shown(keys)
                for name in open_:
                    near = self._nearness(piece, self.index[name])
                    if (
                        piece.part.kind == "code"
                        and near >= 0.9
                        and max(bare_scores.values()) < _ENOUGH
                        and shown < 0.5
                    ):
                        offers.append((0.35, piece.at, name))
                    elif self.likeness.evident(name, piece.code) and shown <= bare_scores[name] + 0.2:
                        offers.append((self._score(piece, name, bare_scores[name], near), piece.at, name))
        by_piece: dict[int, list[tuple[float, str]]] = {}
        for score, at, name in offers:
            by_piece.setdefault(at, []).append((score, name))
        for at, scored in by_piece.items():
            scored.sort(reverse=True)
            second = scored[1][0] if len(scored) > 1 else 0.0
            if scored[0][0] >= _ENOUGH and scored[0][0] - second >= _MARGIN:
                self.pieces[at].label = scored[0][1]
        self._by_elimination()

    def _by_elimination(self) -> None:
        """What is left of a cell that was merged with a locked one, where one exercise has nothing else, is its answer."""
        have = {piece.label for piece in self.pieces}
        missing = [name for name in self.stubs if name not in have]
        left = [piece for piece in self.pieces if piece.free and piece.part.cut and piece.part.whole]
        if len(missing) == 1 and len(left) == 1 and set(self.likeness.names[missing[0]]) & left[0].code.names:
            left[0].label = missing[0]

    def _score(self, piece: _Piece, name: str, alike: float, near: float) -> float:
        same_id = piece.part.id and piece.part.id == self.handout.cells[self.index[name]].id
        return alike + 0.2 * near + (0.3 if same_id else 0.0)

    def _shown(self, keys: Sequence[str]) -> float:
        """How much of a showing cell is in these lines: an edited one is no answer."""
        given = set(keys)
        best = 0.0
        for cell in self.handout.cells:
            if cell.kind == "show":
                own = {bare(line) for line in cell.source.splitlines() if bare(line)}
                best = max(best, len(own & given) / max(len(own), len(given), 1))
        return best

    def _nearness(self, piece: _Piece, place: int) -> float:
        """1 where the released neighbours of the TODO cell are its neighbours; less where it stands in between."""
        above = next((p.part.place for p in reversed(self.pieces[: piece.at]) if p.part.place is not None), None)
        below = next((p.part.place for p in self.pieces[piece.at + 1 :] if p.part.place is not None), None)
        here = [at for at in self.present if at != place]
        close = [
            above is not None and above == max((at for at in here if at < place), default=None),
            below is not None and below == min((at for at in here if at > place), default=None),
        ]
        if any(close):
            return 1.0 if all(close) else 0.5
        return 0.3 if above is not None and below is not None and above < place < below else 0.0

    def _touched(self, piece: _Piece) -> bool:
        name = piece.label
        return (
            name is not None and piece.part.whole and bool(piece.code.seen.strip()) and piece.part.place is None
            and bare(piece.code.text) != bare(self.stubs[name])
        )  # fmt: skip

    # Of all pieces of an exercise one answer is made.

    def _resolve(self, name: str, stub: str, own: list[_Piece]) -> tuple[str, str, str]:
        """The answer, how it was found, and why it was not."""
        if any(not piece.part.whole for piece in own) and not any(self._touched(piece) for piece in own):
            return stub, "", "The file breaks off in the middle of this TODO cell. Hand in the whole notebook."
        touched = [piece for piece in own if self._touched(piece)]
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
            return (own[0].part.text if own[0].part.text else stub), "", ""
        if self.cut_off:
            return stub, "", "The file breaks off before this TODO cell. Hand in the whole notebook."
        return stub, "", (
            "The TODO cell is missing, and no other cell holds an answer to it. "
            "Hand in the notebook with the cell in it."
        )  # fmt: skip

    def _alike(self, name: str, piece: _Piece) -> float:
        names = [one for statement in piece.code.statements for one in statement.names]
        return self.likeness.of(name, names, piece.code.keys)

    def _made_of(self, name: str, touched: list[_Piece], own: list[_Piece]) -> tuple[str, str, str]:
        different = list({bare(piece.code.text): piece for piece in reversed(touched)}.values())[::-1]
        told = ""
        if len(different) > 1 and self._is_split(name, different):
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

    def _is_split(self, name: str, pieces: list[_Piece]) -> bool:
        """Whether these are parts of one answer, and not several versions of it."""
        whole = [piece for piece in pieces if self.likeness.whole(name, piece.code)]
        if len(whole) > 1:
            return False
        lines = [set(piece.code.keys) & set(self.likeness.lines[name]) for piece in pieces]
        for one, other in itertools.combinations(lines, 2):
            rare = [key for key in one & other if self.likeness.lines[name][key] > 0.05]
            if len(rare) > 1 and 2 * len(rare) >= min(len(one), len(other)):
                return False
        return True

    def _put_together(self, name: str, pieces: list[_Piece]) -> tuple[str, int]:
        """In the order in which they stand, unless only another order makes sense."""
        orders = itertools.permutations(pieces) if len(pieces) <= 4 else [tuple(pieces)]
        texts = [_joined([piece.part.text for piece in order]) for order in orders]
        best = max(range(len(texts)), key=lambda number: (self._sense(name, texts[number]), -number))
        return texts[best], len(pieces)

    def _sense(self, name: str, text: str) -> tuple[bool, bool, int]:
        """Whether it is Python, whether it defines what is asked for, and how many stub lines stand in order."""
        code = Code(text)
        order = self.likeness.stubs[name].keys
        seen = [order.index(key) for key in code.keys if key in order]
        return code.parses, self.likeness.whole(name, code), sum(a <= b for a, b in itertools.pairwise(seen))

    def _choice(self, name: str, pieces: list[_Piece]) -> tuple[_Piece, str]:
        """Of several versions the one that the check saw, when the notebook ran from top to bottom."""
        tests = {
            place for place, cell in enumerate(self.handout.cells) if cell.kind == "test" and cell.exercise == name
        }
        check = next((p.at for p in self.pieces if p.part.place in tests and p.at > pieces[0].at), None)
        if check is None:
            return pieces[0], "The first counts."
        above = [piece for piece in pieces if piece.at < check]
        return above[-1], "The one directly above its check counts, which the check sees in Run All."

    def _extended(self, name: str, text: str, pieces: list[_Piece], told: str) -> tuple[str, str, str]:
        """With cells around it that are the rest of it: older Jupyters give one half of a split cell no id."""
        added, before = 0, text
        for step, at in ((1, max(piece.at for piece in pieces)), (-1, min(piece.at for piece in pieces))):
            at += step
            while 0 <= at < len(self.pieces) and self.pieces[at].free and self.pieces[at].part.kind == "code":
                piece = self.pieces[at]
                both = [text, piece.part.text] if step > 0 else [piece.part.text, text]
                if not self._belongs(name, text, piece, both):
                    break
                text, piece.label, added, at = _joined(both), name, added + 1, at + step
        if added and Code(before).parses and not Code(text).parses:
            return before, told, ""
        if added:
            told = f"The TODO cell was split into {added + len(pieces)} cells. They were put together again."
        return text, told, ""

    def _belongs(self, name: str, text: str, piece: _Piece, both: list[str]) -> bool:
        code, joined = Code(text), Code(_joined(both))
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

    def _below_the_stub(self, name: str, stub: str, own: list[_Piece]) -> str:
        """The code of new cells between an untouched TODO cell and the next released one; empty where it is no answer."""
        anchor = next(piece for piece in own if piece.part.name == name or piece.part.place is not None)
        new = list(itertools.takewhile(
            lambda piece: (piece.free or piece.label == name) and piece.part.kind == "code", self.pieces[anchor.at + 1 :]
        ))  # fmt: skip
        new = new or [piece for piece in own if self._touched(piece)][:1]
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
            if statement.assigns and not statement.assigns & code.names:
                prepared.append(first.cut(statement.first, statement.last))
        if len(new) == 1 and not prepared:
            return new[0].part.text
        return "\n".join([*prepared, code.text])

    # Written answers are text.

    def _written(self, name: str, stub: str) -> None:
        own = [piece for piece in self.pieces if piece.part.name == name]
        place = self.index[name]
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
            and (self._nearness(piece, place) >= 0.5 or bare(stub) in bare(piece.part.text))
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


def _joined(texts: Sequence[str]) -> str:
    """Cells as one: on lines of their own, unless the cut went through a line."""
    whole = texts[0]
    for text in texts[1:]:
        lines = f"{whole}\n{text}"
        whole = lines if Code(lines).parses or not Code(whole + text).parses else whole + text
    return whole
