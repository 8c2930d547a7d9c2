"""What was handed out, which released cell of it each cell of a submission is, what a text binds, and what an exercise asks for.

A :class:`ReleasedNotebook` holds nothing that a learner does not have, so it may go to a sealed worker as JSON.
The rest decides which exercise a text may answer. A stub leaves functions, classes and empty values to be filled in, and binds
other names. Where it binds nothing, its tests say what is asked for. A text that only calls something, or binds other names,
answers nothing.
"""

from __future__ import annotations

import builtins
import keyword
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

from nbproof.cells import CellKind
from nbproof.grouping import grouped, merged
from nbproof.lesson.lesson import Cell
from nbproof.recover.notebook_bytes import ExportedCell
from nbproof.syntax import parsed

__all__ = [
    "Asked",
    "Former",
    "ReleasedNotebook",
    "asked_in",
    "bare",
    "binds",
    "former_cells",
    "is_commented_out",
    "is_python",
    "match_cells",
    "may_bind",
    "modernise",
    "names_in",
    "new_lines",
    "parts_of",
    "questions_above",
    "renamed",
    "unreleased_lines",
    "view",
    "without_released",
]


@dataclass(frozen=True)
class Former:
    """One cell that was handed out with an earlier version of the notebook."""

    name: str
    """Its grade_id; empty if it had none."""
    source: str
    index: int | None
    """The index of the released cell that it is now; None if it has gone."""


@dataclass(frozen=True)
class ReleasedNotebook:
    """The released notebook of one lesson. To learners it is the same who marks a TODO cell: all are answers."""

    lesson: str
    cells: tuple[Cell, ...]
    former: tuple[Former, ...] = ()
    """The cells of earlier versions, which learners may still have."""

    @cached_property
    def stubs(self) -> dict[str, str]:
        """The TODO cells: grade_id -> text."""
        return {cell.grade_id: cell.source for cell in self.cells if cell.kind is CellKind.ANSWER}

    @cached_property
    def written(self) -> dict[str, str]:
        """The cells for written answers: grade_id -> text."""
        return {cell.grade_id: cell.source for cell in self.cells if cell.kind is CellKind.WRITTEN}

    @cached_property
    def withdrawn(self) -> set[str]:
        """The grade_ids of questions that were asked once, and are not asked any more."""
        return {one.name for one in self.former if one.index is None}

    @cached_property
    def names(self) -> set[str]:
        """The grade_ids of all cells that have one."""
        return {cell.grade_id for cell in self.cells if cell.grade_id}

    @cached_property
    def code_names(self) -> set[str]:
        """The grade_ids of the cells that hold code."""
        return {cell.grade_id for cell in self.cells if cell.grade_id and cell.is_code}

    def cell_at(self, index: int | None) -> Cell | None:
        """The cell at this index; None if there is no index, because no released cell is meant."""
        return None if index is None else self.cells[index]

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ReleasedNotebook:
        """Make it from the dictionary that ``asdict`` has made of it."""
        cells = tuple(Cell(**{**cell, "kind": CellKind(cell["kind"]), "metadata": ()}) for cell in data["cells"])
        return cls(data["lesson"], cells, tuple(Former(**one) for one in data.get("former", ())))


_UNSURE = re.compile(r"[^!-~\w]+|[\"'`?]+")
_PROMPT = re.compile(r"^(?:>>> ?|\.\.\. ?|In ?\[\d*\]: ?|\s*\.\.\.: ?)")
_DEFINES = re.compile(r"^(?:async +def|def|class) +(\w+)", re.MULTILINE)
_ASSIGNS = re.compile(r"^(\w+(?: *, *\w+)*) *(?::[^=\n]{1,80})?=(?!=)", re.MULTILINE)
_MAGIC = re.compile(r"^([ \t]*)[%!?].*", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")
_HASH = re.compile(r"^#+ ?", re.MULTILINE)
_IMPORTS = re.compile(r"^from +[\w.]+ +import +\(?([\w, \t]+)", re.MULTILINE)
_EMPTY = re.compile(r"^(\w+) *(?::[^=\n]{1,80})?= *(?:None|\[\]|\{\}|\.\.\.|\"\"|'') *(?:#.*)?$", re.MULTILINE)
_FILLS = re.compile(r"\b(\w+)(?:\.(?:append|extend|insert|update|add)\(|\[[^\]\n]{1,80}\] *=(?!=)| *[+|]=)")
_BODY = re.compile(r"^(?:async +def|def|class|@).*\n(?:(?:[ \t].*)?\n)*", re.MULTILINE)
_CODE = (CellKind.SETUP, CellKind.SHOW, CellKind.TEST)
_LONGEST = 500_000
"""Characters of one text that are looked into."""
_COLAB_BADGE = "/colab-badge.svg"
"""It stands in the text cell that Colab puts above a notebook."""
_LEAST = 20
"""Characters of a released text that is looked for inside of other cells."""


@lru_cache(maxsize=2000)
def bare(text: str) -> str:
    """The text without white space, quotation marks and signs that are not ASCII: what survives most ways of copying it.

    Of a text that holds nothing but such signs, only the white space goes.
    """
    return _UNSURE.sub("", text) or "".join(text.split())


def view(text: str) -> str:
    """The code as the shell will see it: without prompts, indentation of the whole, and tabs."""
    lines = text[:_LONGEST].expandtabs(4).splitlines()
    first = next((line for line in lines if line.strip()), "")
    if _PROMPT.match(first) and not first.startswith("..."):
        lines = [_PROMPT.sub("", line) for line in lines]
    return textwrap.dedent("\n".join(lines)).strip("\n")


def _defined_in(text: str) -> frozenset[str]:
    """Functions and classes that lines at the margin define."""
    return frozenset(_DEFINES.findall(view(text)))


@lru_cache(maxsize=2000)
def names_in(text: str) -> frozenset[str]:
    """The names that lines at the margin bind. Nothing is parsed, so it may be asked of any text."""
    return _defined_in(text).union(*(map(str.strip, targets.split(",")) for targets in _ASSIGNS.findall(view(text))))


def binds(text: str) -> frozenset[str]:
    """The names that a text binds or fills if it runs: also by an import from a file, or by putting something into a list."""
    seen = view(text)
    names = set(_FILLS.findall(_BODY.sub("\n", f"{seen}\n")))
    for imported in _IMPORTS.findall(seen):
        names.update(part.split()[-1] for part in imported.split(",") if part.strip())
    return names_in(seen) | names


@lru_cache(maxsize=2000)
def may_bind(text: str) -> frozenset[str]:
    """The names that a text would bind as code: also those in comments, or in the midst of a text."""
    return binds(text) | binds(_HASH.sub("", text))


def is_python(text: str) -> bool:
    """Whether a text is Python by itself, magics aside: it does not begin within a block, and nothing of it is open."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    try:
        parsed(_MAGIC.sub(r"\1pass", view(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return first[:1] not in (" ", "\t")


@lru_cache(maxsize=32)
def _indices(handout: ReleasedNotebook) -> tuple[dict[str, int], dict[str, list[int]]]:
    """The indices of the released cells by their ids, nbgrader's and the notebook format's; and by their texts."""
    ids = merged(dict.fromkeys({cell.grade_id, cell.id} - {""}, index) for index, cell in enumerate(handout.cells))
    return ids, grouped((bare(cell.source), index) for index, cell in enumerate(handout.cells))


def match_cells(handout: ReleasedNotebook, cells: Sequence[ExportedCell]) -> list[int | None]:
    """For each cell the index of the released cell that it is, by an id or by its text; None if it is a new one."""
    ids, texts = _indices(handout)
    used: set[int | None] = set()
    matches: list[int | None] = []
    for cell in cells:
        index = ids.get(cell.grade_id or "", ids.get(cell.id))
        if index is None:
            alike = texts.get(bare(cell.source) or " ", [])
            unused = [at for at in alike if at not in used]
            # A cell with a name of its own is no second copy of another cell.
            copied = [] if cell.grade_id else alike[:1]
            index = next(iter(unused + copied), None)
        used.add(index)
        matches.append(index)
    return matches


def former_cells(handout: ReleasedNotebook, version: Sequence[ExportedCell]) -> Iterator[Former]:
    """Yield the cells of an earlier version that are not the same today.

    A cell that nothing names is the released cell that stands between the same neighbours.
    """
    indices = match_cells(handout, version)
    unmatched = {
        (None, at, one.is_code) for at, one in enumerate(handout.cells) if not one.grade_id and at not in indices
    }
    texts = [*(bare(one.source) for one in handout.cells), ""]
    before = -1
    for cell, index in zip(version, indices, strict=True):
        if index is None and (cell.grade_id, before + 1, cell.kind == "code") in unmatched:
            index = before + 1
        before = len(handout.cells) if index is None else index
        if bare(cell.source) not in ("", texts[before]):
            yield Former(cell.grade_id or "", cell.source, index)


def renamed(handout: ReleasedNotebook, version: Sequence[ExportedCell]) -> dict[str, str]:
    """The ids that other questions have today than in an earlier version: id there -> id of the same question today."""
    then = _questions(version)
    now = _questions(handout.cells)
    asked = {one.grade_id for one in handout.cells if one.kind in (CellKind.ANSWER, CellKind.WRITTEN, CellKind.TASK)}
    same = {old: now[text] for text, old in then.items() if text in now}
    return {old: new for old, new in same.items() if old != new and {old, new} <= asked}


def _questions(cells: Sequence[ExportedCell | Cell]) -> dict[tuple[str, str], str]:
    """The text above and the text of each cell with an id -> the id."""
    return {(bare(above.source), bare(one.source)): one.grade_id for above, one in pairwise(cells) if one.grade_id}


def _released_texts(handout: ReleasedNotebook, *kinds: CellKind) -> list[str]:
    """The texts of the cells of today and of earlier versions; of cells of these ``kinds`` only, if any are given."""
    texts = [cell.source for cell in handout.cells if not kinds or cell.kind in kinds]
    for one in handout.former:
        today = handout.cell_at(one.index)
        if not kinds or (today is not None and today.kind in kinds):
            texts.append(one.source)
    return texts


def modernise(handout: ReleasedNotebook, cells: Sequence[ExportedCell]) -> list[ExportedCell]:
    """The cells of a submission, with today's cells in place of those that are as an earlier version had them.

    A cell that has gone is empty. Code that has gone, and binds what nothing binds today, stays: what learners wrote may rest
    on it.
    """
    ids, texts = _indices(handout)
    known = {("", bare(one.source)): one.index for one in handout.former if bare(one.source) not in texts}
    known |= {(one.name, bare(one.source)): one.index for one in handout.former}
    modern = []
    for cell in cells:
        name = cell.grade_id or ""
        key = (name, bare(cell.source))
        if cell.whole and (key in known or cell.untouched):
            cell = _of_today(handout, cell, known.get(key, ids.get(name)))
        modern.append(cell)
    return modern


def _of_today(handout: ReleasedNotebook, cell: ExportedCell, index: int | None) -> ExportedCell:
    """The released cell at this index, as a cell of a submission; for a cell that has gone, what stays of it."""
    if index is not None:
        today = handout.cells[index]
        kind = "code" if today.is_code else "markdown"
        return ExportedCell(today.grade_id or None, today.source, kind, today.id)
    if names_in(cell.source) - _names_of(handout.cells):
        return cell
    return cell._replace(grade_id=None, source="")


def _names_of(cells: Iterable[Cell]) -> frozenset[str]:
    """The names that these cells bind."""
    return frozenset[str]().union(*(names_in(cell.source) for cell in cells))


def without_released(handout: ReleasedNotebook, text: str) -> str:
    """The text without released text that stands in it word for word, because a locked cell was merged with it."""
    for source in _released_texts(handout, CellKind.TEST, CellKind.SETUP, CellKind.PROSE, CellKind.TASK):
        if len(source) >= _LEAST and source.strip() in text:
            text = text.replace(source.strip(), "", 1)
    return text.strip("\n")


@lru_cache(maxsize=32)
def _given_lines(handout: ReleasedNotebook) -> frozenset[str]:
    """All texts that were handed out, whole and line by line, bare."""
    given = (map(bare, [text, *text.splitlines()]) for text in _released_texts(handout))
    return frozenset({""}.union(*given))


def unreleased_lines(handout: ReleasedNotebook, text: str) -> list[str]:
    """The lines of a text that were not handed out; none, if the whole text was."""
    given = _given_lines(handout)
    if bare(text) in given:
        return []
    return [line for line in text.splitlines() if bare(line) not in given and _COLAB_BADGE not in line]


def new_lines(handout: ReleasedNotebook, text: str) -> str:
    """The lines of a text that were not handed out; if they are most of the text, all of it."""
    lines = unreleased_lines(handout, text)
    filled = [line for line in text.splitlines() if line.strip()]
    return text if 2 * len(lines) > len(filled) else "\n".join(lines)


@lru_cache(maxsize=32)
def parts_of(handout: ReleasedNotebook) -> tuple[str, ...]:
    """For each released cell the exercise that it belongs to; empty for cells above the first exercise.

    An exercise's part of the notebook goes from the text above its TODO cell to the text above the next TODO cell.
    """
    parts = [""] * len(handout.cells)
    end = len(parts)
    for index in reversed(range(len(parts))):
        if handout.cells[index].kind is not CellKind.ANSWER:
            continue
        start = index
        while start and not handout.cells[start - 1].grade_id and handout.cells[start].kind is not CellKind.PROSE:
            start -= 1
        parts[start:end] = [handout.cells[index].grade_id] * (end - start)
        end = start
    return tuple(parts)


_GRADED = (CellKind.ANSWER, CellKind.TEST, CellKind.WRITTEN, CellKind.TASK)


@lru_cache(maxsize=32)
def questions_above(handout: ReleasedNotebook) -> tuple[tuple[CellKind | None, str], ...]:
    """For each released cell, kind and name of the cell that is graded there, or nearest above it; (None, "") if none is."""
    questions: list[tuple[CellKind | None, str]] = []
    above: tuple[CellKind | None, str] = (None, "")
    for cell in handout.cells:
        if cell.kind in _GRADED:
            above = (cell.kind, cell.grade_id)
        questions.append(above)
    return tuple(questions)


@dataclass(frozen=True)
class Asked:
    """What one exercise asks for."""

    wanted: frozenset[str]
    """What an answer has to bind: the functions and classes that its stub begins; if there are none, all that it binds."""
    bound: frozenset[str]
    """All that it binds."""
    blank: frozenset[str]
    """Functions, classes and empty values: what is to be filled in; if there are none, all that it binds."""
    own: frozenset[str] = frozenset()
    """Those of these names that no other cell of the lesson binds."""

    def may_be(self, names: frozenset[str], *, here: bool) -> bool:
        """Whether a text that binds these names may be the answer; ``here``: it stands in the exercise's own part."""
        telling = self.blank if here else self.own
        return bool(telling & names) or (bool(self.bound) and self.bound <= names)


@lru_cache(maxsize=32)
def asked_in(handout: ReleasedNotebook) -> Mapping[str, Asked]:
    """What each exercise asks for: its name -> the names that an answer binds."""
    asked = {}
    for name, stub in handout.stubs.items():
        functions = _defined_in(stub)
        bound = names_in(stub) or _needed_by_tests(handout, name)
        asked[name] = Asked(functions or bound, bound, functions.union(_EMPTY.findall(stub)) or bound)
    given = _names_of(cell for cell in handout.cells if cell.kind in _CODE)
    for name, one in asked.items():
        others = [other.bound for other in asked.values() if other is not one]
        asked[name] = replace(one, own=one.blank.difference(given, *others))
    return asked


def _needed_by_tests(handout: ReleasedNotebook, name: str) -> frozenset[str]:
    """The words that the tests of an exercise use, and that no other released code uses."""
    tests = [cell for cell in handout.cells if cell.kind is CellKind.TEST and cell.exercise == name]
    others = [cell for cell in handout.cells if cell.kind in _CODE and cell not in tests]
    known = set(dir(builtins)).union(keyword.kwlist, *(_WORD.findall(cell.source) for cell in others))
    return frozenset[str]().union(*(_WORD.findall(cell.source) for cell in tests)) - known


def is_commented_out(asked: Asked, stub: str, text: str) -> bool:
    """Whether all code of a TODO cell is the stub's, or stands in comments, and those bind what is asked for."""
    given = {bare(line) for line in stub.splitlines()}
    new = [line for line in dict.fromkeys(text.splitlines()) if bare(line) not in given]
    return all(line.lstrip().startswith("#") for line in new) and bool(asked.blank & may_bind("\n".join(new)))
