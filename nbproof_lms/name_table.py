"""Tables that say whose is a file: a hand-made one (a column ``learner``, every other column holds names that stand for that
learner), Canvas's gradebook export, and Moodle's list of participants or grading worksheet, in any of its languages.

Every id that an export has of a person is a name of theirs: the same person may come in another system's export.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nbproof.errors import UsageError
from nbproof_lms.csv_table import read_sheet, unquoted
from nbproof_lms.members import Member, Roster, roster_of
from nbproof_lms.names import bare, plain, why_no_learner
from nbproof_lms.sheet_columns import FIRST, IDENTIFIER, LAST, LEARNER, heads_of, is_filled

__all__ = ["SEPARATOR", "also_cell", "read_names"]

SEPARATOR = "|"
"""Between the names of the column ``also``."""

_NUMBERS = {"lms user id", "canvas id", "moodle id", "user id"}
"""Columns that hold the number by which an LMS calls the learner in file names."""

_NAMES = {"name", "full name", "student", FIRST, LAST, "email address"}


def also_cell(member: Member) -> str:
    """What the column ``also`` says of a member."""
    return f" {SEPARATOR} ".join(part.replace(SEPARATOR, " ") for part in member.also)


def read_names(path: Path, option: str = "--names") -> Roster:
    """Read a CSV of names, which ``option`` has named. Raises UsageError if it cannot be used."""
    sheet = read_sheet(path, "the names", option, least=1)
    rows = [[unquoted(cell.strip()) for cell in row] for row in sheet.rows]
    heads = heads_of(rows)
    columns = _learner_columns(heads, rows)
    if not columns or len(rows) < 2:
        none = len(rows) < 2 and any(head in LEARNER for head in heads)
        raise UsageError(
            "the names hold no learner" if none else "no column of the names says which learner it is",
            f"{path}, whose first line is {', '.join(rows[0])[:120]!r}",
            "name one column 'learner'; every other column holds names that stand for that learner",
        )
    members: dict[str, Member] = {}
    notes: list[str] = []
    for line, row in enumerate(rows[1:], 2):
        cells = dict(zip(heads, row, strict=False))
        if plain(cells.get("student", "-")) in {"points possible", "student, test", ""}:
            continue
        learner = next((cells[head] for head in columns if head != LAST and cells.get(head)), _full_name(cells))
        learner = unicodedata.normalize("NFC", learner)
        if why := why_no_learner(learner):
            notes.append(f"{path.name}, line {line}: {learner[:40]!r} cannot be a learner's id: {why}")
        else:
            members.setdefault(learner, _member(learner, cells))
    if not members:
        raise UsageError("the names hold no learner", str(path), "; ".join(notes[:3]) or "add a line for each learner")
    return roster_of(tuple(members.values()), path.name, notes)


def _learner_columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """The column whose value becomes the learner's id, and those that do where it is empty; the names, if there is none."""
    if {"id", FIRST, LAST} <= set(heads):
        return ("id",)  # as nbgrader's own list of students
    filled = [name for name in LEARNER if name in heads and is_filled(rows, heads.index(name))]
    # Without any id first and last name together are one: ``_full_name``.
    return filled or [head for head in (LAST,) if {FIRST, LAST} <= set(heads)]


def _full_name(cells: Mapping[str, str]) -> str:
    name = f"{cells.get(FIRST, '')} {cells.get(LAST, '')}".strip()
    return name or next((cells[head] for head in ("name", "full name", "student") if cells.get(head)), "")


def _member(learner: str, cells: Mapping[str, str]) -> Member:
    name = _full_name(cells)
    email = cells.get("email address") or next((cell for cell in cells.values() if "@" in cell and " " not in cell), "")
    said = {bare(learner), bare(name), bare(email), ""}
    also = dict.fromkeys(one for one in _also(cells) if bare(one.removeprefix("id ")) not in said or one.isdecimal())
    also.pop(learner, None)
    return Member(learner, name, email, tuple(also))


def _also(cells: Mapping[str, str]) -> Iterator[str]:
    """What else stands for the learner of one row, as the column ``also`` writes it."""
    is_export = {"student", IDENTIFIER, FIRST} & set(cells)
    handmade = "learner" in cells or not is_export
    yield from (part.strip() for part in cells.get("also", "").split(SEPARATOR) if part.strip())
    for head, cell in cells.items():
        if not cell or head in {*_NAMES, "also", "learner"}:
            continue
        if head == IDENTIFIER:
            yield from (f"participant {int(digits)}" for digits in re.findall(r"\d+$", cell))
        elif head in _NUMBERS or (head == "id" and "student" in cells):
            yield from (digits for digits in re.findall(r"\d+$", cell))
        elif head in LEARNER:
            yield f"id {cell}" if cell.isdecimal() else cell
        elif handmade:
            yield cell
