"""Tables that say whose is a file: a hand-made one (a column ``learner``, every other column holds names that stand for that
learner), Canvas's gradebook export, and Moodle's list of participants or grading worksheet, in any of its languages.

Every id that an export has of a person is a name of theirs: the same person may come in another system's export.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nbproof.errors import UsageError
from nbproof_lms.csv_table import read_sheet, unquoted
from nbproof_lms.members import Member, Roster
from nbproof_lms.names import bare, plain, why_no_learner
from nbproof_lms.sheet_columns import FIRST, IDENTIFIER, LAST, LEARNER, heads_of, is_filled

__all__ = ["AN_ID", "SEPARATOR", "also_cell", "read_names", "roster_of"]

SEPARATOR = "|"
"""Between the names of the column ``also``."""

AN_ID = re.compile(r"id (\d+)", re.IGNORECASE)
"""How that column writes an id of digits, which is no number of the LMS: ``id 2026001``."""

_PARTICIPANT = re.compile(r"participant (\d+)", re.IGNORECASE)
"""How that column writes what Moodle calls a person in one assignment, and nobody else in any: ``participant 501265``."""

_NUMBERS = {"id", IDENTIFIER, "lms user id", "canvas id", "moodle id", "user id"}
"""Columns that hold the number by which the LMS calls the learner in file names."""

_IDS = {"student id", "sis login id", "login id", "username", "login", "sis user id", "integration id", "id number"}
"""Columns whose ids a person has in every course of a school."""

_SHARED = 5
"""Names of several learners that are told one by one."""


def read_names(path: Path, option: str = "--names") -> Roster:
    """Read a CSV of names, which ``option`` has named. Raises UsageError if it cannot be used."""
    sheet = read_sheet(path, "the names", option, least=1)
    rows = [[unquoted(cell.strip()) for cell in row] for row in sheet.rows]
    heads = heads_of(rows)
    chosen = next((name for name in LEARNER if name in heads and is_filled(rows, heads.index(name))), "")
    if not chosen and {FIRST, LAST} <= set(heads):
        chosen = "first and last"
    if {"id", FIRST, LAST} <= set(heads):
        chosen = "id"  # as nbgrader's own list of students
    if not chosen or len(rows) < 2:
        none = len(rows) < 2 and any(head in LEARNER for head in heads)
        raise UsageError(
            "the names hold no learner" if none else "no column of the names says which learner it is",
            f"{path}, whose first line is {', '.join(rows[0])[:120]!r}",
            "name one column 'learner'; every other column holds names that stand for that learner",
        )
    return _roster(rows, heads, chosen, path)


def roster_of(members: Iterable[Member], path: Path) -> Roster:
    """The roster that a table of these members is; ``path``: what it is called in notes."""
    rows = [["learner", "name", "email", "also"]]
    rows += [[one.learner, one.name, one.email, also_cell(one)] for one in members]
    return _roster(rows, rows[0], "learner", path)


def also_cell(member: Member) -> str:
    """What the column ``also`` says of a member."""
    return f" {SEPARATOR} ".join(part.replace(SEPARATOR, " ") for part in member.also)


def _roster(rows: Sequence[Sequence[str]], heads: Sequence[str], chosen: str, path: Path) -> Roster:
    names: dict[str, set[str]] = {}
    numbers: dict[str, set[str]] = {}
    learners: dict[str, Member] = {}
    turned: dict[str, set[str]] = {}
    notes: list[str] = []
    canvas = {"student", "id"} <= set(heads)
    moodle = IDENTIFIER in heads or {FIRST, LAST} <= set(heads)
    handmade = chosen == "learner" or not (canvas or moodle)
    fallbacks = () if chosen in {"learner", "first and last"} else LEARNER[LEARNER.index(chosen) :]
    for line, row in enumerate(rows[1:], 2):
        cells = dict(zip(heads, row, strict=False))
        full = f"{cells.get(FIRST, '')} {cells.get(LAST, '')}".strip()
        learner = full if chosen == "first and last" else cells.get(chosen, "")
        learner = learner or next((cells[head] for head in fallbacks if cells.get(head)), "")
        if canvas and plain(cells.get("student", "")) in {"points possible", "student, test", ""}:
            continue
        if not any(cells.values()):
            continue
        learner = unicodedata.normalize("NFC", learner)
        if why := why_no_learner(learner):
            notes.append(f"{path.name}, line {line}: {learner[:40]!r} cannot be a learner's id: {why}")
            continue
        aliases = list(dict.fromkeys(_aliases(cells, canvas, handmade)))
        lasting = _lasting_numbers(cells, canvas, handmade, chosen)
        learners.setdefault(learner, _member(learner, cells, full, aliases, lasting))
        for alias in aliases:
            names.setdefault(plain(alias), set()).add(learner)
            names.setdefault(bare(alias), set()).add(learner)
            for other in _turned(alias):
                turned.setdefault(bare(other), set()).add(learner)
        names.setdefault(plain(learner), set()).add(learner)
        names.setdefault(bare(learner), set()).add(learner)
        for head, cell in cells.items():
            digits = re.search(r"(\d+)\s*$", cell)
            if head == chosen and not canvas:
                continue
            if digits and (head in _NUMBERS - {IDENTIFIER} or (handmade and cell.isdigit())):
                numbers.setdefault(digits[1], set()).add(learner)
        for participant in _participants(cells):
            numbers.setdefault(participant, set()).add(learner)
        for number in lasting:
            numbers.setdefault(number, set()).add(learner)
    # Only where it is nobody's name as it stands: Anna Maria is not Maria Anna.
    names = {**turned, **names}
    names.pop("", None)
    # A learner's own id is nobody else's alias.
    for learner in learners:
        names[plain(learner)] = {other for other in names[plain(learner)] if plain(other) == plain(learner)} or {
            learner
        }
    notes += _shared(path.name, {**names, **numbers})
    if not learners:
        raise UsageError("the names hold no learner", str(path), "; ".join(notes[:3]) or "add a line for each learner")
    frozen = {alias: frozenset(whose) for alias, whose in names.items()}
    return Roster(
        tuple(learners.values()), frozen, {key: frozenset(whose) for key, whose in numbers.items()}, tuple(notes)
    )


def _shared(file: str, names: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """A sentence for each group of learners that names stand for together: of all its spellings the one to read."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for alias, whose in names.items():
        if len(those := tuple(sorted(whose))) > 1:
            groups.setdefault(those, []).append(alias)
    told = sorted((max(aliases, key=lambda one: (" " in one, one)), whose) for whose, aliases in groups.items())
    for alias, whose in told[:_SHARED]:
        several = " and ".join(whose) if len(whose) < 4 else f"{len(whose)} learners"
        yield f"{file}: {alias!r} stands for {several}: a file that bears only this name is not taken"
    if len(told) > _SHARED:
        yield f"{file}: and {len(told) - _SHARED} more names that stand for several learners"


def _aliases(cells: Mapping[str, str], canvas: bool, handmade: bool) -> Iterable[str]:
    """What stands for the learner of one row."""
    for one in _also(cells):
        if _PARTICIPANT.fullmatch(one):
            continue
        found = AN_ID.fullmatch(one)
        yield found[1] if found else one
    first, last = cells.get(FIRST, ""), cells.get(LAST, "")
    if first and last:
        yield from (f"{first} {last}", f"{last} {first}", f"{last}, {first}")
    for head, cell in cells.items():
        if not cell or head == "also":
            continue
        if handmade or head in {*LEARNER, IDENTIFIER}:
            if not (canvas and head == "id"):
                yield cell
            if "," in cell and len(parts := [part.strip() for part in cell.split(",")]) == 2:
                yield f"{parts[1]} {parts[0]}"
        if "@" in cell and " " not in cell:
            yield cell
            yield cell.split("@")[0]


def _turned(name: str) -> Iterable[str]:
    """A name with its last words in front, as Canvas sorts people: "Ada King Lovelace" may be lovelaceadaking there."""
    words = name.split()
    if 2 <= len(words) <= 5 and not any("@" in word or "," in word or word.isdigit() for word in words):
        yield from (" ".join((*words[at:], *words[:at])) for at in range(1, len(words)))


def _also(cells: Mapping[str, str]) -> list[str]:
    """The column ``also`` of a roster that this course keeps."""
    return [part.strip() for part in cells.get("also", "").split(SEPARATOR) if part.strip()]


def _participants(cells: Mapping[str, str]) -> list[str]:
    """What Moodle calls the learner, one assignment's each, as the column ``also`` writes it."""
    digits = re.search(r"(\d+)\s*$", cells.get(IDENTIFIER, ""))
    kept = [one.casefold() for one in _also(cells) if _PARTICIPANT.fullmatch(one)]
    return [*kept, *([f"participant {int(digits[1])}"] if digits else [])]


def _lasting_numbers(cells: Mapping[str, str], canvas: bool, handmade: bool, chosen: str) -> list[str]:
    """Numbers by which an LMS calls the learner in every download; Moodle's mean something in one assignment only."""
    lasting = {"lms user id", "canvas id", "user id"} | ({"id"} if canvas else set())
    own = [
        cell
        for head, cell in cells.items()
        if cell.isdecimal() and head != chosen and (head in lasting or (handmade and head not in _NUMBERS | _IDS))
    ]
    return own + [one for one in _also(cells) if one.isdecimal()]


def _member(
    learner: str, cells: Mapping[str, str], full: str, aliases: Sequence[str], numbers: Sequence[str]
) -> Member:
    name = full or next((cells[head] for head in ("name", "full name", "student") if cells.get(head)), "")
    email = cells.get("email address") or next((cell for cell in cells.values() if "@" in cell and " " not in cell), "")
    said = {bare(learner), bare(name), bare(email), bare(email.split("@")[0]), ""}
    also: list[str] = []
    # In the reader's language; the number in it is kept below.
    passing = cells.get(IDENTIFIER, "")
    for alias in (*aliases, *numbers):
        if bare(alias) not in said and (not alias.isdecimal() or alias in numbers) and alias != passing:
            said.add(bare(alias))
            also.append(alias)
    ids = [cell for head, cell in cells.items() if head in _IDS and cell.isdecimal() and cell != learner]
    also += [f"id {one}" for one in dict.fromkeys(ids)]
    also += [one for one in _also(cells) if AN_ID.fullmatch(one) and one not in also]
    also += [one for one in dict.fromkeys(_participants(cells)) if one not in also]
    return Member(learner, name, email, tuple(also))
