"""The texts of one submission that may be answers, each with the released cells around it, and the learner's own cells.

Those are new code cells, and released cells that they have changed. They run while grading, in their order
(:mod:`nbproof.marking.execution`).

Tokens are made of texts that need not be Python: whatever is wrong with one, no sign is lost. Python's ``tokenize`` gives up
where an answer does not parse, as half of the wrong ones do. Every pattern is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nbproof.cells import CellKind
from nbproof.recover.asked import asked_in, may_bind, parts_of
from nbproof.recover.matching import FENCE, Names, bare, names_in, placed, without_released
from nbproof.recover.notebook_bytes import ExportedCell
from nbproof.recover.released import HandedOut, Handout

__all__ = ["LONGEST", "OwnCell", "Piece", "Pieces", "bounded", "own_cells", "read_back", "to_be_shown", "tokens"]


@dataclass(frozen=True)
class Piece:
    """A text that may be an answer, or a part of one."""

    at: int
    """The number of its cell."""
    text: str
    kind: str
    """code; text: a text cell; fenced: one that shows code between marks"""
    whole: bool = True
    """False if the file breaks off in it."""

    @cached_property
    def names(self) -> Names:
        """What it binds."""
        return names_in(self.text)

    @cached_property
    def may_bind(self) -> frozenset[str]:
        """What it would bind, also if it stands in comments or in text."""
        return may_bind(self.text)


class Pieces:
    """The pieces of a submission: by exercise, if a cell is the TODO cell of one, and those that are nobody's."""

    def __init__(self, handout: Handout, cells: Sequence[ExportedCell]) -> None:
        self.handout, self.cells = handout, cells
        self.places = placed(handout, cells)
        self.index = {cell.name: place for place, cell in enumerate(handout.cells) if cell.name}
        self.asked = asked_in(handout)
        self.named: dict[str, list[Piece]] = {name: [] for name in handout.stubs}
        self.strays: list[Piece] = []
        for at, (cell, place) in enumerate(zip(cells, self.places, strict=True)):
            self._take(at, cell, place)
        self.missing = [name for name, own in self.named.items() if not own]
        self.used: dict[int, int] = {}
        """Cells that are answers, or parts of them -> the place of the TODO cell."""
        self._above: list[int] = []
        """For each cell the place of the released one that it is, or that stands above it; -1 above all of them."""
        for place in self.places:
            above = self._above[-1] if self._above else -1
            self._above.append(above if place is None else place)

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
            self.strays.append(Piece(at, rest, "fenced" if fenced else kind))

    def free(self) -> list[Piece]:
        """The strays that belong to nothing so far, and can be an answer as they are."""
        return [piece for piece in self.strays if piece.at not in self.used and piece.kind != "fenced"]

    def is_below(self, piece: Piece, name: str) -> bool:
        """Whether it stands directly below a TODO cell, and above the next released one."""
        return self._above[piece.at] == self.index[name]

    def check_below(self, name: str, piece: Piece) -> int | None:
        """The number of the first check of an exercise that stands below a piece."""
        tests = {at for at, one in enumerate(self.handout.cells) if one.kind is CellKind.TEST and one.exercise == name}
        return next((at for at, place in enumerate(self.places) if place in tests and at > piece.at), None)

    def whose(self, piece: Piece) -> str:
        """The exercise that it belongs to by its place: the answer to it, or in its part of the notebook; empty if none."""
        place = self.used.get(piece.at, self._above[piece.at])
        return "" if place < 0 else parts_of(self.handout)[place]

    def added(self, piece: Piece) -> frozenset[str]:
        """What it may bind that the released cell in its place does not."""
        place = self.places[piece.at]
        return piece.may_bind if place is None else piece.may_bind - names_in(self.handout.cells[place].source)[1]

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


MOST_CELLS, MOST_TEXT = 300, 600_000
"""Own cells of one submission, and characters of all of them, that are looked at."""

_SHOWN, _SHOWN_OF_ALL = 10_000, 50_000
"""Characters of one of them, and of all, that a page shows: colouring half a million takes a minute, each time."""


@dataclass(frozen=True)
class OwnCell:
    """Code that a learner wrote outside of the TODO cells."""

    source: str
    after: int
    """The place, among the released cells, of the one above it; -1 above all of them."""
    place: int | None = None
    """The released cell whose text it has replaced: one that shows something, or a setup cell. None for a new cell."""


def own_cells(
    handout: Handout, cells: Sequence[ExportedCell], answers: Mapping[int, int] | None = None
) -> tuple[OwnCell, ...]:
    """``answers``: cells that are answers, or parts of them, although nothing says so -> the place of the TODO cell."""
    names = {cell.name for cell in handout.cells if cell.name}
    found: list[OwnCell] = []
    used: set[int] = set()
    above = -1
    for at, (cell, place) in enumerate(zip(cells, placed(handout, cells), strict=True)):
        if answers and at in answers:
            above = answers[at]
        elif place is not None and place not in used and is_code(handout.cells[place]) == (cell.kind == "code"):
            used.add(place)
            above = place
            if _is_changed(handout.cells[place], cell):
                found.append(OwnCell(cell.source, above, place))
        elif cell.kind == "code" and cell.source.strip() and cell.name not in names and cell.whole:
            again = place is not None and bare(cell.source) == bare(handout.cells[place].source)
            found += [] if again else [OwnCell(cell.source, above)]
    return bounded(found)


def bounded(found: Sequence[OwnCell]) -> tuple[OwnCell, ...]:
    """As many of them as are looked at."""
    kept: list[OwnCell] = []
    left = MOST_TEXT
    for one in found[:MOST_CELLS]:
        left -= len(one.source)
        if left >= 0:
            kept.append(one)
    return tuple(kept)


def to_be_shown(own: Sequence[OwnCell]) -> tuple[OwnCell, ...]:
    """For people: cut off if one of them, or all of them, are longer than any that somebody reads."""
    left, found = _SHOWN_OF_ALL, []
    for one in own:
        kept = one.source[: min(left, _SHOWN)]
        left -= len(kept)
        if len(kept) < len(one.source):
            kept += "\n# [cut off: this cell ran, and is longer than what is shown]"
        found.append(replace(one, source=kept))
    return tuple(found)


def is_code(released: HandedOut) -> bool:
    """Whether a released cell holds code."""
    return released.kind not in (CellKind.PROSE, CellKind.WRITTEN)


def _is_changed(released: HandedOut, cell: ExportedCell) -> bool:
    changeable = released.kind in (CellKind.SHOW, CellKind.SETUP)
    return changeable and bool(cell.source.strip()) and bare(cell.source) != bare(released.source)


def read_back(handout: Handout, data: object) -> tuple[OwnCell, ...]:
    """Own cells as they were written down, from a process that may have been told to lie. Raises ValueError."""
    if not isinstance(data, list) or len(data) > MOST_CELLS:
        raise ValueError("own cells of no known form")
    last, found = len(handout.cells), []
    for one in data:
        told = one if isinstance(one, dict) else {}
        source, after, place = told.get("source"), told.get("after"), told.get("place")
        if not isinstance(source, str) or type(after) is not int or not -1 <= after < last:
            raise ValueError("own cells of no known form")
        if place is not None and not (type(place) is int and 0 <= place < last):
            raise ValueError("own cells of no known form")
        found.append(OwnCell(source, after, place))
    return bounded(found)


LONGEST = 20_000
"""Characters of one text that are looked at."""
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*+)
    |(?P<string>[rbufRBUF]{0,2}(?:
        \"{3}(?:[^\\]|\\.)*?(?:\"{3}|\Z) | '{3}(?:[^\\]|\\.)*?(?:'{3}|\Z)
        | \"(?:[^\"\\\n]|\\.)*+\"? | '(?:[^'\\\n]|\\.)*+'?))
    |(?P<number>\d[\w.]*+)
    |(?P<name>[^\W\d]\w*+)
    |(?P<newline>\n)
    |(?P<space>[^\S\n]++)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)


def tokens(source: str) -> Iterator[tuple[str, str]]:
    """(kind, text) of every token; what is joined makes the source again, cut at :data:`LONGEST` characters."""
    for found in _TOKEN.finditer(source[:LONGEST]):
        yield str(found.lastgroup), found.group()
