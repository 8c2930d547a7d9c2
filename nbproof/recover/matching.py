"""What was handed out, which released cell of it each cell of a submission is, what a text binds, and what an exercise asks for.

A :class:`Handout` holds nothing that a learner does not have, so it may go to a sealed worker as JSON.
The rest decides which exercise a text may answer. A stub leaves functions, classes and empty values to be filled in, and binds
other names. Where it binds nothing, its tests say what is asked for. A text that only calls something, or binds other names,
answers nothing.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

from nbproof.cells import CellKind, kind_of, name_of
from nbproof.grouping import grouped
from nbproof.recover.notebook_bytes import ExportedCell

__all__ = [
    "COLAB_BADGE",
    "Asked",
    "Former",
    "HandedOut",
    "Handout",
    "alone",
    "asked_in",
    "bare",
    "binds",
    "former_cells",
    "given_lines",
    "handed_out",
    "is_commented_out",
    "may_bind",
    "modernised",
    "names_in",
    "new_lines",
    "parts_of",
    "placed",
    "questions_above",
    "renamed",
    "view",
    "without_released",
]


@dataclass(frozen=True)
class HandedOut:
    """One cell of the released notebook."""

    kind: CellKind
    name: str
    """Its grade_id; empty if it has none."""
    id: str
    """The notebook format's own id."""
    source: str
    exercise: str = ""
    """The exercise that a test cell tests; empty for other cells."""

    @property
    def is_code(self) -> bool:
        """Whether it holds code."""
        return self.kind not in (CellKind.PROSE, CellKind.WRITTEN, CellKind.TASK)


@dataclass(frozen=True)
class Former:
    """One cell that was handed out with an earlier version of the notebook, and the place of the released cell that it is now, if
    there is one."""

    name: str
    source: str
    place: int | None


@dataclass(frozen=True)
class Handout:
    """The released notebook of one lesson."""

    lesson: str
    cells: tuple[HandedOut, ...]
    former: tuple[Former, ...] = ()
    """Of versions that learners may hold all the same."""

    @cached_property
    def stubs(self) -> dict[str, str]:
        """The TODO cells: grade_id -> text."""
        return {cell.name: cell.source for cell in self.cells if cell.kind is CellKind.ANSWER}

    @cached_property
    def written(self) -> dict[str, str]:
        """The cells for written answers: grade_id -> text."""
        return {cell.name: cell.source for cell in self.cells if cell.kind is CellKind.WRITTEN}

    @cached_property
    def withdrawn(self) -> set[str]:
        """The grade_ids of what was asked once, and is not asked any more."""
        return {one.name for one in self.former if one.place is None}

    @classmethod
    def of(cls, lesson: str, notebook: Any, tests: Mapping[str, str]) -> Handout:
        """From the learner's version of a notebook. ``tests``: id of a test cell -> the exercise that it tests."""
        found = []
        for cell in notebook.cells:
            kind, name = kind_of(cell), name_of(cell)
            # To learners it is the same who marks a TODO cell.
            kind = CellKind.ANSWER if kind is CellKind.MANUAL else kind
            found.append(HandedOut(kind, name, str(cell.get("id", "")), cell.source, tests.get(name, "")))
        return cls(lesson, tuple(found))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Handout:
        """What ``asdict`` wrote down."""
        cells = tuple(HandedOut(**{**cell, "kind": CellKind(cell["kind"])}) for cell in data["cells"])
        return cls(data["lesson"], cells, tuple(Former(**one) for one in data.get("former", ())))


_UNSURE = re.compile(r"[^!-~\w]+|[\"'`?]+")
_PROMPT = re.compile(r"(?:>>> ?|\.\.\. ?|In ?\[\d*\]: ?|\s*\.\.\.: ?)")
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
COLAB_BADGE = "/colab-badge.svg"
_LEAST = 20
"""Characters of a released text that is looked for inside of other cells."""


def bare(text: str) -> str:
    """The text without white space, quotation marks and signs that are not ASCII: what survives most ways of copying it.

    Of a text of such signs alone, all but the white space.
    """
    return _UNSURE.sub("", text) or "".join(text.split())


def view(text: str) -> str:
    """The code as the shell will see it: without prompts, indentation of the whole, and tabs."""
    lines = text[:_LONGEST].expandtabs(4).splitlines()
    first = next((line for line in lines if line.strip()), "")
    if _PROMPT.match(first) and not first.startswith("..."):
        lines = [line[match.end() :] if (match := _PROMPT.match(line)) else line for line in lines]
    return textwrap.dedent("\n".join(lines)).strip("\n")


def _defined_in(text: str) -> frozenset[str]:
    """Functions and classes that lines at the margin define."""
    return frozenset(_DEFINES.findall(view(text)))


@lru_cache(maxsize=2000)
def names_in(text: str) -> frozenset[str]:
    """The names that lines at the margin bind. Nothing is parsed, so it may be asked of any text."""
    assigned = (name.strip() for names in _ASSIGNS.findall(view(text)) for name in names.split(","))
    return _defined_in(text).union(assigned)


def binds(text: str) -> frozenset[str]:
    """The names that a text binds or fills if it runs: also by an import from a file, or by putting something into a list."""
    seen = view(text)
    imported = (name.split() for names in _IMPORTS.findall(seen) for name in names.split(","))
    filled = _FILLS.findall(_BODY.sub("\n", f"{seen}\n"))
    return names_in(seen).union(filled, (words[-1] for words in imported if words))


@lru_cache(maxsize=2000)
def may_bind(text: str) -> frozenset[str]:
    """The names that a text would bind as code: also those in comments, or in the midst of a text."""
    return binds(text) | binds(_HASH.sub("", text))


def alone(text: str) -> bool:
    """Whether a text is Python by itself, magics aside: it does not begin within a block, and nothing of it is open."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(_MAGIC.sub(r"\1pass", view(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return first[:1] not in (" ", "\t")


@lru_cache(maxsize=32)
def _places(handout: Handout) -> tuple[dict[str, int], dict[str, list[int]]]:
    """The released cells by their ids, nbgrader's and the notebook format's; and by their texts."""
    ids: dict[str, int] = {}
    for place, cell in enumerate(handout.cells):
        ids |= dict.fromkeys({cell.name, cell.id} - {""}, place)
    return ids, grouped((bare(cell.source), place) for place, cell in enumerate(handout.cells))


def placed(handout: Handout, cells: Sequence[ExportedCell]) -> list[int | None]:
    """For each cell the place of the released cell that it is, by an id or by its text; None if it is a new one."""
    ids, texts = _places(handout)
    used: set[int] = set()
    found: list[int | None] = []
    for cell in cells:
        place = ids.get(cell.name or "", ids.get(cell.id))
        if place is None:
            alike = texts.get(bare(cell.source) or " ", [])
            # What has a name of its own is no second copy of another cell.
            again = alike[0] if alike and not cell.name else None
            place = next((at for at in alike if at not in used), again)
        if place is not None:
            used.add(place)
        found.append(place)
    return found


def former_cells(handout: Handout, version: Sequence[ExportedCell]) -> Iterator[Former]:
    """The cells of an earlier version that are not the same today. One that nothing names stands where it stood: between its
    neighbours.
    """
    places = placed(handout, version)
    fill = {(None, at, one.is_code) for at, one in enumerate(handout.cells) if not one.name and at not in places}
    texts = [*(bare(one.source) for one in handout.cells), ""]
    before = -1
    for cell, place in zip(version, places, strict=True):
        if place is None and (cell.name, before + 1, cell.kind == "code") in fill:
            place = before + 1
        before = len(handout.cells) if place is None else place
        if bare(cell.source) not in ("", texts[before]):
            yield Former(cell.name or "", cell.source, place)


def renamed(handout: Handout, version: Sequence[ExportedCell]) -> dict[str, str]:
    """Of questions that have another id than in an earlier version: that id, if another question has it today -> today's."""
    then, now = _questions(version), _questions(handout.cells)
    asked = {one.name for one in handout.cells if one.kind in (CellKind.ANSWER, CellKind.WRITTEN, CellKind.TASK)}
    same = {old: now[text] for text, old in then.items() if text in now}
    return {old: new for old, new in same.items() if old != new and {old, new} <= asked}


def _questions(cells: Sequence[ExportedCell | HandedOut]) -> dict[tuple[str, str], str]:
    """The text above and the text of each cell with an id -> the id."""
    return {(bare(above.source), bare(one.source)): one.name for above, one in pairwise(cells) if one.name}


def handed_out(handout: Handout, *kinds: CellKind) -> list[str]:
    """The texts of its cells, of every version; ``kinds``: of these alone."""
    former = [(None if one.place is None else handout.cells[one.place].kind, one.source) for one in handout.former]
    texts = [*((cell.kind, cell.source) for cell in handout.cells), *former]
    return [source for kind, source in texts if not kinds or kind in kinds]


def modernised(handout: Handout, cells: Sequence[ExportedCell]) -> list[ExportedCell]:
    """The cells of a submission, with those as they are today that are as they were handed out once. One that has gone is empty.

    Code that has gone, and binds what nothing binds today, stays: what learners wrote may rest on it.
    """
    ids, texts = _places(handout)
    known = {("", bare(one.source)): one.place for one in handout.former if bare(one.source) not in texts}
    known |= {(one.name, bare(one.source)): one.place for one in handout.former}
    keys = [(cell.name or "", bare(cell.source)) for cell in cells]
    return [
        _of_today(handout, cell, known.get(key, ids.get(key[0])))
        if cell.whole and (key in known or cell.untouched)
        else cell
        for cell, key in zip(cells, keys, strict=True)
    ]


def _of_today(handout: Handout, cell: ExportedCell, place: int | None) -> ExportedCell:
    if place is not None:
        now = handout.cells[place]
        return ExportedCell(now.name or None, now.source, "code" if now.is_code else "markdown", now.id)
    bound = frozenset[str]().union(*(names_in(one.source) for one in handout.cells))
    return cell if names_in(cell.source) - bound else cell._replace(name=None, source="")


def without_released(handout: Handout, text: str) -> str:
    """What a text holds besides the released text that stands in it word for word: a locked cell that was merged with it."""
    for source in handed_out(handout, CellKind.TEST, CellKind.SETUP, CellKind.PROSE, CellKind.TASK):
        if len(source) >= _LEAST and source.strip() in text:
            text = text.replace(source.strip(), "", 1)
    return text.strip("\n")


@lru_cache(maxsize=32)
def given_lines(handout: Handout) -> frozenset[str]:
    """All that was handed out, whole and line by line, bare."""
    texts = (text for source in handed_out(handout) for text in (source, *source.splitlines()))
    return frozenset({bare(text) for text in texts} | {""})


def new_lines(handout: Handout, text: str) -> str:
    """What a text holds beside lines that were handed out: all of it, if that is most of it."""
    given, lines = given_lines(handout), text.splitlines()
    new = [line for line in lines if bare(line) not in given and COLAB_BADGE not in line]
    if bare(text) in given:
        return ""
    return text if 2 * len(new) > sum(map(bool, map(str.strip, lines))) else "\n".join(new)


@lru_cache(maxsize=32)
def parts_of(handout: Handout) -> tuple[str, ...]:
    """For each released cell the exercise that it belongs to; empty for cells above the first exercise.

    An exercise's part of the notebook goes from the text above its TODO cell to the text above the next TODO cell.
    """
    found = [""] * len(handout.cells)
    end = len(found)
    for place in reversed(range(len(found))):
        if handout.cells[place].kind is not CellKind.ANSWER:
            continue
        start = place
        while start and not handout.cells[start - 1].name and handout.cells[start].kind is not CellKind.PROSE:
            start -= 1
        found[start:end] = [handout.cells[place].name] * (end - start)
        end = start
    return tuple(found)


_GRADED = (CellKind.ANSWER, CellKind.TEST, CellKind.WRITTEN, CellKind.TASK)


@lru_cache(maxsize=32)
def questions_above(handout: Handout) -> tuple[tuple[CellKind | None, str], ...]:
    """For each released cell, kind and name of the cell that is graded there, or nearest above it."""
    found: list[tuple[CellKind | None, str]] = []
    above: tuple[CellKind | None, str] = (None, "")
    for cell in handout.cells:
        above = (cell.kind, cell.name) if cell.kind in _GRADED else above
        found.append(above)
    return tuple(found)


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
        return bool((self.blank if here else self.own) & names) or (bool(self.bound) and self.bound <= names)


@lru_cache(maxsize=32)
def asked_in(handout: Handout) -> Mapping[str, Asked]:
    """exercise -> what it asks for."""
    found = {}
    for name, stub in handout.stubs.items():
        functions = _defined_in(stub)
        bound = names_in(stub) or _needed_by_tests(handout, name)
        found[name] = Asked(functions or bound, bound, functions.union(_EMPTY.findall(stub)) or bound)
    given = frozenset[str]().union(*(names_in(cell.source) for cell in handout.cells if cell.kind in _CODE))
    others = {name: [one.bound for other, one in found.items() if other != name] for name in found}
    return {name: replace(one, own=one.blank.difference(given, *others[name])) for name, one in found.items()}


def _needed_by_tests(handout: Handout, name: str) -> frozenset[str]:
    """The words that the tests of an exercise use, and no other released code."""
    tests = [cell for cell in handout.cells if cell.kind is CellKind.TEST and cell.exercise == name]
    others = [cell for cell in handout.cells if cell.kind in _CODE and cell not in tests]
    known = set(dir(builtins)).union(keyword.kwlist, *(_WORD.findall(cell.source) for cell in others))
    return frozenset[str]().union(*(_WORD.findall(cell.source) for cell in tests)) - known


def is_commented_out(asked: Asked, stub: str, text: str) -> bool:
    """Whether all code of a TODO cell is the stub's, or stands in comments, and those bind what is asked for."""
    given = {bare(line) for line in stub.splitlines()}
    new = [line for line in dict.fromkeys(text.splitlines()) if bare(line) not in given]
    return all(line.lstrip().startswith("#") for line in new) and bool(asked.blank & may_bind("\n".join(new)))
