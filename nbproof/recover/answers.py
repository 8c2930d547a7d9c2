"""What is found in a submission: its answers, how each that was not where it should be was found, and the learner's own cells.

These are new code cells, and released cells that were changed. They run while grading, in their order
(:mod:`nbproof.marking.execution`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from nbproof.cells import CellKind
from nbproof.recover.matching import HandedOut, Handout, bare, names_in, placed, without_released
from nbproof.recover.notebook_bytes import ExportedCell

__all__ = ["Answers", "OwnCell", "own_cells", "to_be_shown"]


_MOST_CELLS, _MOST_TEXT = 300, 600_000
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
    handout: Handout,
    cells: Sequence[ExportedCell],
    answers: Mapping[int, int] | None = None,
    earlier: Collection[int] = (),
) -> tuple[OwnCell, ...]:
    """``answers``: cells that are answers, or parts of them, although nothing says so -> the place of the TODO cell.

    ``earlier``: TODO cells above the one that counts.
    """
    code = {cell.name for cell in handout.cells if cell.name and cell.is_code}
    found: list[OwnCell] = []
    used: set[int] = set()
    above = -1
    for at, (cell, place) in enumerate(zip(cells, placed(handout, cells), strict=True)):
        added = _added_to_a_test(handout, cell, place)
        if answers and at in answers:
            above = answers[at]
        elif at in earlier:
            found.append(OwnCell(cell.source, above))
        elif place is not None and place not in used and handout.cells[place].is_code == (cell.kind == "code"):
            used.add(place)
            found += [OwnCell(added, above)] if added else []
            above = place
            if _is_changed(handout.cells[place], cell):
                found.append(OwnCell(cell.source, above, place))
        elif cell.kind == "code" and cell.source.strip() and cell.name not in code and cell.whole:
            again = place is not None and bare(cell.source) == bare(handout.cells[place].source)
            found += [] if again else [OwnCell(cell.source, above)]
    return _bounded(found)


def _added_to_a_test(handout: Handout, cell: ExportedCell, place: int | None) -> str:
    """What a learner wrote into a test cell, beside its text or in its place: it runs before the check.

    A text that binds nothing, or begins as the test does, is another test.
    """
    if place is None or handout.cells[place].kind is not CellKind.TEST or cell.kind != "code" or not cell.whole:
        return ""
    rest, head = without_released(handout, cell.source), handout.cells[place].source.strip().split("\n")[0]
    is_another = not names_in(rest) or rest.strip().startswith(head)
    return "" if bare(rest) == bare(cell.source) and is_another else rest


def _is_changed(released: HandedOut, cell: ExportedCell) -> bool:
    changeable = released.kind in (CellKind.SHOW, CellKind.SETUP)
    return changeable and bool(cell.source.strip()) and bare(cell.source) != bare(released.source)


def _bounded(found: Sequence[OwnCell]) -> tuple[OwnCell, ...]:
    """As many of them as are looked at."""
    sizes = accumulate(len(one.source) for one in found[:_MOST_CELLS])
    return tuple(one for one, size in zip(found, sizes, strict=False) if size <= _MOST_TEXT)


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


def _read_back(handout: Handout, data: object) -> tuple[OwnCell, ...]:
    """Own cells as they were written down, from a process that may have been told to lie. Raises ValueError."""
    places = [None, *range(len(handout.cells))]
    found = []
    for one in data if isinstance(data, list) else [None]:
        told = one if isinstance(one, dict) else {}
        own = OwnCell(told.get("source", 0), told.get("after", -2), told.get("place"))
        if type(own.source) is not str or own.after not in [-1, *places[1:]] or own.place not in places:
            raise ValueError("own cells of no known form")
        found.append(own)
    return _bounded(found)


@dataclass(frozen=True)
class Answers:
    """A submission's answers, those in words among them: grade_id -> text; the rest in sentences for the learner."""

    answers: dict[str, str]
    recovered: dict[str, str] = field(default_factory=dict)
    """How an answer was found that was not where it should be."""
    lost: dict[str, str] = field(default_factory=dict)
    """Why there is no answer, or none that is certain."""
    damage: str = ""
    """What was wrong with the file, and was mended while reading."""
    own: tuple[OwnCell, ...] = ()
    """The learner's own cells, in their order: what is code and no part of an answer."""
    python: str = ""
    """The Python that it was written with, such as ``3.14``, if that is newer than the one which grades."""

    def is_untouched(self, stubs: Mapping[str, str], exercise: str) -> bool:
        """Whether the TODO cell is as handed out: by itself that earns nothing (the author contract proves it)."""
        return exercise in stubs and self.answers[exercise].strip() in ("", stubs[exercise].strip())

    def waits(self, stubs: Mapping[str, str], exercise: str) -> bool:
        """Whether something was found that may be the answer: it stands there as comments, and a person has to look."""
        return exercise in self.lost and not self.is_untouched(stubs, exercise)

    @classmethod
    def from_worker(cls, handout: Handout, data: object) -> Answers:
        """What ``asdict`` wrote down, from a process that may have been told to lie. Raises ValueError."""
        told = data if isinstance(data, dict) else {}
        answers, recovered, lost = (_words(told.get(name)) for name in ("answers", "recovered", "lost"))
        if answers.keys() != {*handout.stubs, *handout.written} or not isinstance(told.get("damage"), str):
            raise ValueError("what was not asked for")
        return cls(answers, recovered, lost, told["damage"], _read_back(handout, told.get("own")))


def _words(given: object) -> dict[str, str]:
    found = given if isinstance(given, dict) else {}
    return {str(name): text for name, text in found.items() if isinstance(text, str)}
