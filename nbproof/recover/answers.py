"""What is found in a submission: its answers, how an answer was found that was not in its place, and the learner's own cells.

Own cells are new cells, and released cells that were changed. Code runs while grading, in its order
(:mod:`nbproof.marking.execution`); text is there for the person who marks a task, or another answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from urllib.parse import unquote

from nbproof.cells import CellKind
from nbproof.recover.matching import ReleasedNotebook, bare, match_cells, names_in, new_lines, without_released
from nbproof.recover.notebook_bytes import ExportedCell

__all__ = ["Answers", "OwnCell", "find_own_cells"]


_MOST_CELLS = 300
"""Own cells of one submission that are looked at."""
_MOST_TEXT = 600_000
"""Characters of all of them together."""
_MOST_PICTURES = 3_000_000
"""Characters of all attached pictures that people see, in base64."""
_NO_OWN_CELLS = "own cells of no known form"
_ATTACHED = re.compile(r"""attachment:([^"'<>()\s]{1,300})""")


@dataclass(frozen=True)
class OwnCell:
    """Code or text that a learner wrote outside of the cells for answers."""

    source: str
    after: int
    """The index of the released cell above it; -1 above all of them."""
    place: int | None = None
    """If it is a released cell with a changed text: the index of that cell, which shows something or is a setup cell. None for
    a new cell."""
    code: bool = True
    """Whether it is code, and runs."""
    questions: tuple[str, ...] = ()
    """The ids of the questions that a person marks there: tasks that it may answer, or the answer that it stands by."""


def find_own_cells(
    handout: ReleasedNotebook,
    cells: Sequence[ExportedCell],
    answers: Mapping[int, int] | None = None,
    earlier: Collection[int] = (),
    shown: Collection[int] = (),
) -> tuple[OwnCell, ...]:
    """Find the learner's own cells among these, in their order, as many as are looked at.

    The other arguments name cells by their numbers. ``answers``: cells that are answers, or parts of them, although no id says
    so -> the index of the TODO cell. ``earlier``: TODO cells above the one that counts. ``shown``: cells that are shown below a
    written answer.
    """
    answers = answers or {}
    own: list[OwnCell] = []
    used: set[int] = set()
    above = -1
    for at, (cell, index) in enumerate(zip(cells, match_cells(handout, cells), strict=True)):
        if at in answers:
            above = answers[at]
        elif at in earlier:
            own.append(OwnCell(cell.source, above))
        elif index is not None and index not in used and handout.cells[index].is_code == (cell.kind == "code"):
            used.add(index)
            own += _added_to_a_test(handout, cell, index, above)
            above = index
            own += _changed(handout, cell, index)
        elif at not in shown and not _has_released_name(handout, cell):
            own += _added(handout, cell, index, above)
    return _bounded(own)


def _has_released_name(handout: ReleasedNotebook, cell: ExportedCell) -> bool:
    """Whether a cell has the grade_id of a released cell; if it is code, that of released code."""
    names = handout.code_names if cell.kind == "code" else handout.names
    return cell.grade_id in names


def _added_to_a_test(handout: ReleasedNotebook, cell: ExportedCell, index: int, above: int) -> list[OwnCell]:
    """The text that a learner wrote into a test cell, beside its text or in its place: it runs before the check.

    A text that binds nothing, or begins as the test does, is another test.
    """
    released = handout.cells[index]
    if released.kind is not CellKind.TEST or cell.kind != "code" or not cell.whole:
        return []
    rest = without_released(handout, cell.source)
    head = released.source.strip().split("\n")[0]
    is_another = not names_in(rest) or rest.strip().startswith(head)
    if not rest or (is_another and bare(rest) == bare(cell.source)):
        return []
    return [OwnCell(rest, above)]


def _changed(handout: ReleasedNotebook, cell: ExportedCell, index: int) -> list[OwnCell]:
    """A released cell as a learner has changed it, or the text that a learner has typed into a task; empty if there is none."""
    released = handout.cells[index]
    changeable = released.kind in (CellKind.SHOW, CellKind.SETUP)
    if changeable and cell.source.strip() and bare(cell.source) != bare(released.source):
        return [OwnCell(cell.source, index, index)]
    if released.kind is CellKind.TASK:
        return _typed(handout, cell, index)
    return []


def _typed(handout: ReleasedNotebook, cell: ExportedCell, above: int) -> list[OwnCell]:
    """The text in a cell that was not handed out, as a text cell; empty if there is none."""
    text = new_lines(handout, cell.source)
    return [OwnCell(text, above, code=False)] if text.strip() else []


def _added(handout: ReleasedNotebook, cell: ExportedCell, index: int | None, above: int) -> list[OwnCell]:
    """A new cell, if anything in it is new."""
    if cell.kind != "code":
        return _typed(handout, cell, above)
    released = handout.cell_at(index)
    is_copy = released is not None and bare(cell.source) == bare(released.source)
    if is_copy or not cell.whole or not cell.source.strip():
        return []
    return [OwnCell(cell.source, above)]


def _bounded(own: Sequence[OwnCell]) -> tuple[OwnCell, ...]:
    """As many of them as are looked at."""
    sizes = accumulate(len(one.source) for one in own[:_MOST_CELLS])
    return tuple(one for one, size in zip(own, sizes, strict=False) if size <= _MOST_TEXT)


def _own_cells_from(handout: ReleasedNotebook, data: object) -> tuple[OwnCell, ...]:
    """Own cells as they were written down, from a process that may have been told to lie. Raises ValueError."""
    if not isinstance(data, list):
        raise ValueError(_NO_OWN_CELLS)
    indices = [None, *range(len(handout.cells))]
    own = []
    for said in data:
        if not isinstance(said, dict):
            raise ValueError(_NO_OWN_CELLS)
        one = OwnCell(said.get("source", 0), said.get("after", -2), said.get("place"), said.get("code") is True)
        if type(one.source) is not str or one.after not in [-1, *indices[1:]] or one.place not in indices:
            raise ValueError(_NO_OWN_CELLS)
        own.append(one)
    return _bounded(own)


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

    def pictures_shown(self, cells: Sequence[ExportedCell]) -> dict[str, str]:
        """The pictures attached to these cells that a text shows, as many as there is room for: name -> PNG in base64."""
        texts = [*self.answers.values(), *(one.source for one in self.own if not one.code)]
        wanted = {unquote(name) for name in _ATTACHED.findall("\n".join(texts))}
        pictures: dict[str, str] = {}
        for name, data in chain.from_iterable(cell.pictures.items() for cell in cells):
            if name in wanted and sum(map(len, pictures.values())) + len(data) <= _MOST_PICTURES:
                pictures.setdefault(name, data)
        return pictures

    @classmethod
    def from_worker(cls, handout: ReleasedNotebook, data: object) -> Answers:
        """Make them from the dictionary that ``asdict`` has made, in a process that may have been told to lie.

        Raises ValueError if it has another form.
        """
        said = data if isinstance(data, dict) else {}
        answers, recovered, lost, pictures = (
            _texts_from(said.get(name)) for name in ("answers", "recovered", "lost", "pictures")
        )
        if answers.keys() != {*handout.stubs, *handout.written} or not isinstance(said.get("damage"), str):
            raise ValueError("what was not asked for")
        return cls(answers, recovered, lost, said["damage"], _own_cells_from(handout, said.get("own")), pictures)


def _texts_from(data: object) -> dict[str, str]:
    """The texts among what is said to be a dictionary of texts."""
    items = data.items() if isinstance(data, dict) else ()
    return {str(name): text for name, text in items if isinstance(text, str)}
