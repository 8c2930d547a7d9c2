"""The pieces of a damaged submission: cells taken apart, each piece with the exercise that it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nbproof.recover.exported import ExportedCell
from nbproof.recover.released import Handout
from nbproof.recover.similarity import Code, Likeness, bare
from nbproof.recover.splitting import Part, anchored, segments

__all__ = ["DISTINCT", "NotebookSheet", "Piece"]


@dataclass
class Piece:
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
        """Whether nothing says whose it is."""
        return self.label is None and self.part.place is None and self.part.name is None and bool(self.code.lines)


_ENOUGH, _MARGIN = 0.3, 0.03
"""How much a piece without an id must look like an exercise, and how much more than like any other."""
DISTINCT = 80
"""Characters of a released text that no other lesson has by chance."""


class NotebookSheet:
    """All pieces in their order. An id is believed; without one, likeness and place decide."""

    def __init__(self, handout: Handout, cells: Sequence[ExportedCell]) -> None:
        self.handout = handout
        self.likeness = Likeness(handout)
        self.stubs = handout.stubs
        self.index = {cell.name: place for place, cell in enumerate(handout.cells) if cell.name}
        self.cells = cells
        parts = anchored(handout, cells)
        self.named = {part.name for part in parts if part.name}
        self.pieces = self._cut(parts)
        distinct = [
            piece for piece in self.pieces if piece.part.place is not None
            and handout.cells[piece.part.place].kind in ("prose", "test", "answer")
            and len(bare(handout.cells[piece.part.place].source)) >= DISTINCT
        ]  # fmt: skip
        kinds = {cell.name: cell.kind for cell in handout.cells}
        # All lessons may call their setup cell the same.
        ids = {cell.name for cell in cells if kinds.get(cell.name or "") in ("answer", "written", "test")}
        self.stranger = not distinct and not ids
        """Whether nothing in it, answers aside, can only come from this lesson."""
        self.present = {piece.part.place for piece in self.pieces if piece.part.place is not None}
        self._label()

    # Cells become pieces, each of one exercise at most.

    def _cut(self, parts: Sequence[Part]) -> list[Piece]:
        pieces: list[Piece] = []
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
                pieces.append(Piece(len(pieces), part, Code(cell.source), label, part.name == label is not None))
                continue
            if part.name in self.handout.written or part.foreign or not part.whole:
                pieces.append(Piece(len(pieces), part, code, own, own is not None))
                continue
            others = wanted if own else open_
            labels = [
                *([own] if own else []),
                *(name for name in others if name != own and self.likeness.evident(name, code)),
            ]
            if len(labels) < 2:
                pieces.append(Piece(len(pieces), part, code, own, own is not None, part.cut))
                continue
            cuts = segments(code, labels, self.likeness, own)
            for label, text in cuts:
                alone = len(cuts) == 1
                piece = part if alone else Part(text, None, part.kind)
                sure = own is not None and label == own
                # Of an unnamed cell that stays whole, the search for labels decides with all that it knows.
                kept = label if own or not alone else None
                pieces.append(
                    Piece(len(pieces), piece, code if alone else Code(text), kept, sure, part.cut or not alone)
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
            if not any(piece.label == name and self.touched(piece) for piece in self.pieces)
        ]  # fmt: skip
        self._by_place(open_)
        offers = []
        for piece in self.pieces:
            if piece.free and piece.part.whole:
                keys = piece.code.keys
                names = [name for statement in piece.code.statements for name in statement.names]
                bare_scores = {name: self.likeness.of(name, names, keys) for name in self.stubs}
                shown = self._shown(keys)
                for name in open_:
                    near = self.nearness(piece, self.index[name])
                    if piece.part.foreign and name in self.named and near < 0.5:
                        continue  # a cell of another lesson, as likely as not
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

    def _by_place(self, open_: Sequence[str]) -> None:
        """New cells right below an untouched TODO cell that show a sign of its exercise belong to it.

        Two exercises may ask for a function of one name: then the place tells whose it is, and likeness would guess.
        """
        for name in open_:
            anchor = next(
                (p for p in self.pieces if p.label == name and (p.part.name == name or p.part.place is not None)), None
            )
            for piece in self.pieces[anchor.at + 1 :] if anchor else ():
                if not piece.free or piece.part.kind != "code":
                    break
                if piece.part.whole and not piece.part.foreign and self.likeness.evident(name, piece.code):
                    piece.label = name

    def _by_elimination(self) -> None:
        """What is left of a cell that was merged with a locked one, where one exercise has nothing else, is its answer."""
        have = {piece.label for piece in self.pieces}
        missing = [name for name in self.stubs if name not in have]
        left = [piece for piece in self.pieces if piece.free and piece.part.cut and piece.part.whole]
        if len(missing) == 1 and len(left) == 1 and set(self.likeness.names[missing[0]]) & left[0].code.names:
            left[0].label = missing[0]

    def _score(self, piece: Piece, name: str, alike: float, near: float) -> float:
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

    def nearness(self, piece: Piece, place: int) -> float:
        """1 where the released neighbours of the TODO cell are its neighbours; less where it stands in between."""
        if self.stranger:
            return 0.0
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

    def touched(self, piece: Piece) -> bool:
        """Whether it is more than the stub of its exercise."""
        name = piece.label
        return (
            name is not None and piece.part.whole and bool(piece.code.seen.strip()) and piece.part.place is None
            and bare(piece.code.text) != bare(self.stubs[name])
        )  # fmt: skip
