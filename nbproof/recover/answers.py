"""What is found in a submission: its answers, how an answer was found that was not in its place, and the learner's own cells.

Own cells are new cells, and released cells that were changed. Code runs while grading, in its order
(:mod:`nbproof.marking.execution`); text is there for the person who marks a task, or another answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from urllib.parse import unquote

from nbproof.cells import CellKind
from nbproof.recover.matching import Handout, bare, names_in, new_lines, placed, without_released
from nbproof.recover.notebook_bytes import ExportedCell

__all__ = ["Answers", "OwnCell", "own_cells"]


_MOST_CELLS, _MOST_TEXT = 300, 600_000
"""How many own cells of one submission are looked at, and how many characters of all of them together."""
_MOST_PICTURES = 3_000_000
"""Characters of all attached pictures that people see, in base64."""
_ATTACHED = re.compile(r"""attachment:([^"'<>()\s]{1,300})""")


@dataclass(frozen=True)
class OwnCell:
    """Code or text that a learner wrote outside of the cells for answers."""

    source: str
    after: int
    """The place, among the released cells, of the one above it; -1 above all of them."""
    place: int | None = None
    """If it is a released cell with a changed text: the place of that cell, which shows something or is a setup cell. None for
    a new cell."""
    code: bool = True
    """Whether it is code, and runs."""
    questions: tuple[str, ...] = ()
    """What a person marks there: tasks that it may answer, or the answer that it stands by."""


def own_cells(
    handout: Handout,
    cells: Sequence[ExportedCell],
    answers: Mapping[int, int] | None = None,
    earlier: Collection[int] = (),
    brought: Collection[int] = (),
) -> tuple[OwnCell, ...]:
    """``answers``: cells that are answers, or parts of them, although nothing says so -> the place of the TODO cell.

    ``earlier``: TODO cells above the one that counts. ``brought``: cells that are shown below a written answer.
    """
    code = {cell.name for cell in handout.cells if cell.name and cell.is_code}
    named = code.union(cell.name for cell in handout.cells if cell.name)
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
            found += _changed(handout, cell, place)
        elif cell.name not in (code if cell.kind == "code" else named) and at not in brought:
            found += _added(handout, cell, place, above)
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


def _changed(handout: Handout, cell: ExportedCell, place: int) -> list[OwnCell]:
    """What a learner has made of a released cell, or has typed into a task, if they have."""
    released = handout.cells[place]
    changeable = released.kind in (CellKind.SHOW, CellKind.SETUP)
    if changeable and cell.source.strip() and bare(cell.source) != bare(released.source):
        return [OwnCell(cell.source, place, place)]
    typed = new_lines(handout, cell.source) if released.kind is CellKind.TASK else ""
    return [OwnCell(typed, place, code=False)] if typed.strip() else []


def _added(handout: Handout, cell: ExportedCell, place: int | None, above: int) -> list[OwnCell]:
    """A new cell, if anything in it is new."""
    if cell.kind != "code":
        typed = new_lines(handout, cell.source)
        return [OwnCell(typed, above, code=False)] if typed.strip() else []
    again = place is not None and bare(cell.source) == bare(handout.cells[place].source)
    return [OwnCell(cell.source, above)] if cell.whole and cell.source.strip() and not again else []


def _bounded(found: Sequence[OwnCell]) -> tuple[OwnCell, ...]:
    """As many of them as are looked at."""
    sizes = accumulate(len(one.source) for one in found[:_MOST_CELLS])
    return tuple(one for one, size in zip(found, sizes, strict=False) if size <= _MOST_TEXT)


def _read_back(handout: Handout, data: object) -> tuple[OwnCell, ...]:
    """Own cells as they were written down, from a process that may have been told to lie. Raises ValueError."""
    places = [None, *range(len(handout.cells))]
    found = []
    for one in data if isinstance(data, list) else [None]:
        told = one if isinstance(one, dict) else {}
        own = OwnCell(told.get("source", 0), told.get("after", -2), told.get("place"), told.get("code") is True)
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
    """The learner's own cells, in their order: what is no part of an answer."""
    pictures: dict[str, str] = field(default_factory=dict)
    """Name -> what a learner attached, and their text shows: said to be a PNG, in base64."""
    python: str = ""
    """The Python that it was written with, such as ``3.14``, if that is newer than the one which grades."""

    def is_untouched(self, stubs: Mapping[str, str], exercise: str) -> bool:
        """Whether the TODO cell is as handed out: by itself that earns nothing (the author contract proves it)."""
        return exercise in stubs and self.answers[exercise].strip() in ("", stubs[exercise].strip())

    def waits(self, stubs: Mapping[str, str], exercise: str) -> bool:
        """Whether something was found that may be the answer: it stands there as comments, and a person has to look."""
        return exercise in self.lost and not self.is_untouched(stubs, exercise)

    def shown_of(self, cells: Sequence[ExportedCell]) -> dict[str, str]:
        """The pictures that were attached to these cells, and that a text in words shows, as many as there is room for."""
        texts = [*self.answers.values(), *(one.source for one in self.own if not one.code)]
        wanted = {unquote(name) for text in texts for name in _ATTACHED.findall(text)}
        found: dict[str, str] = {}
        for name, data in (picture for cell in cells for picture in cell.pictures.items()):
            if name in wanted and sum(map(len, found.values())) + len(data) <= _MOST_PICTURES:
                found.setdefault(name, data)
        return found

    @classmethod
    def from_worker(cls, handout: Handout, data: object) -> Answers:
        """What ``asdict`` wrote down, from a process that may have been told to lie. Raises ValueError."""
        told = data if isinstance(data, dict) else {}
        answers, recovered, lost = (_words(told.get(name)) for name in ("answers", "recovered", "lost"))
        if answers.keys() != {*handout.stubs, *handout.written} or not isinstance(told.get("damage"), str):
            raise ValueError("what was not asked for")
        pictures, own = _words(told.get("pictures")), _read_back(handout, told.get("own"))
        return cls(answers, recovered, lost, told["damage"], own, pictures)


def _words(given: object) -> dict[str, str]:
    found = given if isinstance(given, dict) else {}
    return {str(name): text for name, text in found.items() if isinstance(text, str)}
