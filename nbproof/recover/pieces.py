"""The texts of one submission that may be answers, each with the released cells around it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nbproof.cells import CellKind
from nbproof.recover.exported import ExportedCell
from nbproof.recover.matching import FENCE, Names, bare, names_in, placed, without_released
from nbproof.recover.released import Handout

__all__ = ["Piece", "Pieces"]


@dataclass(frozen=True)
class Piece:
    """A text that may be an answer, or a part of one."""

    at: int
    """The number of its cell."""
    text: str
    kind: str
    """code; text: a whole text cell; fenced: what a text cell shows as code"""
    whole: bool = True
    """False if the file breaks off in it."""

    @cached_property
    def names(self) -> Names:
        """What it binds."""
        return names_in(self.text)


class Pieces:
    """The pieces of a submission: by exercise, if a cell is the TODO cell of one, and those that are nobody's."""

    def __init__(self, handout: Handout, cells: Sequence[ExportedCell]) -> None:
        self.handout, self.cells = handout, cells
        self.places = placed(handout, cells)
        self.index = {cell.name: place for place, cell in enumerate(handout.cells) if cell.name}
        self.asked = {name: names_in(stub) for name, stub in handout.stubs.items()}
        """exercise -> what its stub binds, as in :func:`names_in`"""
        self.named: dict[str, list[Piece]] = {name: [] for name in handout.stubs}
        self.strays: list[Piece] = []
        for at, (cell, place) in enumerate(zip(cells, self.places, strict=True)):
            self._take(at, cell, place)
        self.missing = [name for name, own in self.named.items() if not own]
        self.used: dict[int, int] = {}
        """Cells that are answers, or parts of them -> the place of the TODO cell."""
        self._above = self._next_to(range(len(cells)))
        self._below = self._next_to(reversed(range(len(cells))))
        here = sorted({place for place in self.places if place is not None})
        self._wanted = {
            name: {
                max((at for at in here if at < self.index[name]), default=None),
                min((at for at in here if at > self.index[name]), default=None),
            }
            for name in self.named
        }

    def _take(self, at: int, cell: ExportedCell, place: int | None) -> None:
        released = self.handout.cells[place] if place is not None else None
        same = released is not None and bare(released.source) == bare(cell.source)
        rest = cell.source if same else without_released(self.handout, cell.source)
        kind = "code" if cell.kind == "code" else "text"
        fenced = [text.strip("\n") for _, text in FENCE.findall(rest)] if kind == "text" else []
        if released and released.kind is CellKind.ANSWER:
            self.named[released.name].append(Piece(at, "\n\n".join(fenced) or rest, kind, cell.whole))
        elif cell.whole and rest.strip() and not same and not (released and released.kind is CellKind.WRITTEN):
            if released and kind == "text" and rest == cell.source:
                return  # the lesson's text, edited
            whole = Piece(at, rest, kind)
            self.strays += [replace(whole, text=text, kind="fenced") for text in fenced] or [whole]

    def _next_to(self, order: Iterable[int]) -> list[int | None]:
        """For each cell the nearest one before it, in this order, that is a released one."""
        found: list[int | None] = [None] * len(self.cells)
        last: int | None = None
        for at in order:
            found[at] = last
            last = at if self.places[at] is not None else last
        return found

    def free(self) -> list[Piece]:
        """The strays that belong to nothing so far."""
        return [piece for piece in self.strays if piece.at not in self.used]

    def is_near(self, piece: Piece, name: str) -> bool:
        """Whether the released cells around it are those around the TODO cell, in whichever order."""
        around = set()
        for side in (self._above, self._below):
            at = side[piece.at]
            while at is not None and self.places[at] == self.index[name]:
                at = side[at]
            around.add(None if at is None else self.places[at])
        host = self.places[piece.at]
        return around == self._wanted[name] or (host is not None and host in self._wanted[name])

    def same_place(self, name: str) -> list[str]:
        """The other exercises whose TODO cells are gone between the same released cells."""
        return [one for one in self.missing if one != name and self._wanted[one] == self._wanted[name]]

    def has_all(self, name: str, piece: Piece) -> bool:
        """Whether it defines the functions and classes that an exercise asks for."""
        defined, _ = self.asked[name]
        return bool(defined) and defined <= piece.names[0]

    def numbers(self, pieces: Sequence[Piece]) -> str:
        """Where pieces stand, for people."""
        numbers = ", ".join(dict.fromkeys(str(piece.at + 1) for piece in pieces[:5]))
        return f"cell{'s' if ',' in numbers else ''} {numbers} of {len(self.cells)}"

    def halves(self, at: int, step: int, most: int) -> list[Piece]:
        """The code cells of nobody's directly above or below a cell."""
        found: list[Piece] = []
        free = {piece.at: piece for piece in self.free() if piece.kind == "code"}
        while len(found) < most and (piece := free.get(at + step * (len(found) + 1))):
            found.append(piece)
        return found
