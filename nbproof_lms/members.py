"""The class: its members, the names and numbers that stand for each of them, and the tables that say so.

A table is a hand-made one (a column ``learner``, every other column holds names that stand for that learner), Canvas's export of
its gradebook, and Moodle's list of participants or grading worksheet, in any of its languages. Every id that an export has of a
person is a name of theirs: the same person may come in another system's export.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nbproof.errors import UsageError
from nbproof_lms.csv_table import FIRST, IDENTIFIER, LAST, LEARNER, heads_of, is_filled, read_sheet, unquoted
from nbproof_lms.names import bare, plain, why_no_learner

__all__ = ["SEPARATOR", "Member", "Roster", "read_names"]

SEPARATOR = "|"
"""Between the names of the column ``also``."""

_AN_ID = re.compile(r"id (\d+)", re.IGNORECASE)
_A_NAME = re.compile(r"name (.+)", re.IGNORECASE)
_PARTICIPANT = re.compile(r"participant (\d+)", re.IGNORECASE)
_NUMBERS = {"lms user id", "canvas id", "moodle id", "user id"}
"""Columns that hold the number by which an LMS calls the learner in file names."""
_SAID = {"name", "full name", "student", FIRST, LAST, "email address", "also", "learner"}
"""Columns that hold no other name."""


@dataclass(frozen=True)
class Member:
    """A learner of the class, as ``roster.csv`` keeps them.

    ``also``: what else stands for them: other spellings, other ids, and the number that an LMS gives them (digits alone; an
    id of digits, such as a number of matriculation, is written ``id 123``, Moodle's number in one assignment ``participant
    123``, and a mere name that looks like an id ``name team2``).
    """

    learner: str
    name: str = ""
    email: str = ""
    also: tuple[str, ...] = ()

    @property
    def names(self) -> Iterator[str]:
        """All that they are called."""
        yield from (self.learner, self.name, self.email)
        for one in self.also:
            if found := _AN_ID.fullmatch(one) or _A_NAME.fullmatch(one):
                yield found[1]
            elif one not in self.numbers:
                yield one

    @property
    def turned(self) -> Iterator[str]:
        """The name with its last words in front, as LMSs sort people: Ada King Lovelace may be lovelaceadaking there."""
        words = self.name.replace(",", " ").split()
        yield from (" ".join((*words[at:], *words[:at])) for at in range(1, min(len(words), 5)))

    @property
    def numbers(self) -> list[str]:
        """What LMSs call them: digits alone, or ``participant`` with digits."""
        return [one for one in self.also if one.isdecimal() or _PARTICIPANT.fullmatch(one)]

    @property
    def ids(self) -> set[str]:
        """What is one person's alone: id, address, numbers, and names with a digit in them, which no parents give."""
        ids = {plain(self.learner), plain(self.email)} - {""}
        ids |= {f"number {one}" for one in self.numbers if one.isdecimal()}
        ids |= {found[1] for one in self.also if (found := _AN_ID.fullmatch(one))}
        words = (one for one in self.also if " " not in one and not one.isdecimal())
        return ids | {plain(one) for one in words if "@" in one or re.search(r"\d", one)}


@dataclass(frozen=True)
class Roster:
    """Names and numbers, and the learners that they stand for."""

    members: tuple[Member, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def learners(self) -> tuple[str, ...]:
        """Their ids, in the order of the file."""
        return tuple(member.learner for member in self.members)

    @cached_property
    def _names(self) -> Mapping[str, set[str]]:
        """Every name as it is, and whose."""
        found: dict[str, set[str]] = defaultdict(set)
        for member in self.members:
            for name in member.names:
                found[plain(name)].add(member.learner)
                found[plain(_first_name_first(name))].add(member.learner)
        # A learner's own id is nobody else's; annamaria may be Maria Anna, or Anna Maria.
        own = {plain(learner): {learner} for learner in self.learners}
        return {**found, **own, "": set()}

    @cached_property
    def _bare_names(self) -> Mapping[str, set[str]]:
        """Every name without signs and spaces, and whose."""
        found: dict[str, set[str]] = defaultdict(set)
        for name, learners in self._names.items():
            found[bare(name)] |= learners
        for member in self.members:
            for name in member.turned:
                found[bare(name)].add(member.learner)
        return {**found, "": set()}

    @cached_property
    def _numbers(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for member in self.members:
            for number in member.numbers:
                word, _, digits = number.rpartition(" ")
                found[f"{word.casefold()} {int(digits)}".strip()].add(member.learner)
        return dict(found)

    def has_number(self, learner: str) -> bool:
        """Whether it holds the number that an LMS has of a learner."""
        return learner in self._numbered

    @cached_property
    def _numbered(self) -> set[str]:
        return {one.learner for one in self.members if any(map(str.isdecimal, one.numbers))}

    def numbered(self, number: str) -> frozenset[str]:
        """The learners with this number: ``123``, or ``participant 123``."""
        return frozenset(self._numbers.get(number, ()))

    def called(self, name: str) -> frozenset[str]:
        """The learners whom an LMS may call so, which leaves out signs, accents and spaces, or turns a name round."""
        return self.named(name) or frozenset(self._bare_names.get(bare(name), ()))

    def named(self, name: str) -> frozenset[str]:
        """The learners who are called so; letter case, underscores for spaces, and ``Doe, Jane`` do not matter."""
        turned = _first_name_first(name.replace("_", " "))
        return frozenset(self._names.get(plain(name)) or self._names.get(plain(turned)) or ())


def _first_name_first(name: str) -> str:
    """``Doe, Jane`` as ``Jane Doe``."""
    last, _, first = name.partition(",")
    return f"{first} {last}"


def read_names(path: Path, option: str = "--names") -> Roster:
    """Read a CSV of names, which ``option`` has named. Raises UsageError if it cannot be used."""
    sheet = read_sheet(path, "the names", option)
    rows = [[unquoted(cell.strip()) for cell in row] for row in sheet.rows]
    heads = heads_of(rows)
    columns = _learner_columns(heads, rows)
    if not columns:
        raise UsageError(
            "no column of the names says which learner it is",
            f"{path}, whose first line is {', '.join(rows[0])[:120]!r}",
            "name one column 'learner'; every other column holds names that stand for that learner",
        )
    members: dict[str, Member] = {}
    notes: list[str] = []
    for line, row in enumerate(rows[1:], 2):
        cells = dict(zip(heads, row, strict=False))
        if plain(cells.get("student", "-")) in {"points possible", "student, test", ""}:
            continue
        learner = _learner(cells, columns)
        if why := why_no_learner(learner):
            notes.append(f"{path.name}, line {line}: {learner[:40]!r} cannot be a learner's id: {why}")
        else:
            members.setdefault(learner, _member(learner, cells))
    if not members:
        raise UsageError("the names hold no learner", str(path), "; ".join(notes[:3]) or "add a line for each learner")
    return Roster(tuple(members.values()), tuple(notes))


def _learner_columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """The column whose value becomes the learner's id, and those that do where it is empty; the names, if there is none."""
    if {"id", FIRST, LAST} <= set(heads):
        return ("id",)  # as nbgrader's own list of students
    filled = [name for name in LEARNER if name in heads and is_filled(rows, heads.index(name))]
    # Without any id first and last name together are one: ``_full_name``.
    return filled or [head for head in (LAST,) if {FIRST, LAST} <= set(heads)]


def _learner(cells: Mapping[str, str], columns: Sequence[str]) -> str:
    said = (cells[head] for head in columns if head != LAST and cells.get(head))
    return unicodedata.normalize("NFC", next(said, _full_name(cells)))


def _full_name(cells: Mapping[str, str]) -> str:
    name = f"{cells.get(FIRST, '')} {cells.get(LAST, '')}".strip()
    return name or next((cells[head] for head in ("name", "full name", "student") if cells.get(head)), "")


def _member(learner: str, cells: Mapping[str, str]) -> Member:
    name = _full_name(cells)
    email = cells.get("email address") or next(
        (cells[head] for head in LEARNER if head not in _SAID - {"learner"} and "@" in cells.get(head, "")), ""
    )
    said = {bare(learner), bare(name), bare(email), ""}
    written = [part.strip() for part in cells.get("also", "").split(SEPARATOR)]
    others = [*written, *(_other_name(head, cell, cells) for head, cell in cells.items())]
    also = dict.fromkeys(
        one for one in others if bare(one.removeprefix("id ").removeprefix("name ")) not in said or one.isdecimal()
    )
    also.pop(learner, None)
    return Member(learner, name, email, tuple(also))


def _other_name(head: str, cell: str, heads: Collection[str]) -> str:
    """What a cell says that else stands for the learner of its row, as the column ``also`` writes it; empty if nothing."""
    if not cell or head in _SAID:
        return ""
    number = re.sub(r"^.*?(\d*)$", r"\1", cell)
    if head == IDENTIFIER:
        return f"participant {int(number)}" if number else ""
    if head in _NUMBERS or (head == "id" and "student" in heads) or (head == "number" and cell.isdecimal()):
        return number
    if head in LEARNER:
        return f"id {cell}" if cell.isdecimal() else cell
    is_export = {"student", IDENTIFIER, FIRST} & set(heads)
    if "learner" not in heads and is_export:
        return ""
    # A team, a year or a name that learners chose makes no two people one: only what is given to one alone does.
    return f"name {cell}" if Member("", also=(cell,)).ids - {""} else cell
