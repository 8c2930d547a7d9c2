"""The class: its members, the names and numbers that stand for each of them, the tables that say so, and the roster that is kept.

A table is a hand-made one (a column ``learner``, every other column holds names that stand for that learner), Canvas's export of
its gradebook, or Moodle's list of participants or grading worksheet, in any of its languages. Every id that an export has of a
person is a name of that person, because the same person may come in another system's export.

The roster that is kept is such a table as well: ``roster.csv`` in the course's folder, which people can read and change.
A person in another table is the same person if an id is the same: a learner's id, an address, a number of matriculation.
A name makes nobody the same: a note names two people with one name, and the instructor says whether they are one.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product
from pathlib import Path

from nbproof.command import course_command
from nbproof.csv_text import csv_of, unquoted
from nbproof.errors import CourseError, UsageError, disk_trouble
from nbproof.files import replace_file
from nbproof.gradebook.marks import Person
from nbproof.grouping import grouped
from nbproof.text import some_of
from nbproof_lms.csv_table import FIRST, IDENTIFIER, LAST, LEARNER, REVEALED, STATUS, heads_of, is_filled, read_sheet
from nbproof_lms.names import bare, bare_words, plain, why_no_learner

__all__ = [
    "ROSTER",
    "Enrolment",
    "Member",
    "Roster",
    "enrol",
    "import_roster",
    "is_class_known",
    "is_of_people",
    "kept_roster",
    "members_of",
    "read_names",
    "strike_off",
]

_SEPARATOR = "|"
"""Between the names of the column ``also``."""

_NUMBER = re.compile(r"(participant )?(\d+)", re.IGNORECASE)
_NUMBERS = {"lms user id", "canvas id", "moodle id", "user id"}
"""Columns that hold the number that stands for the learner in an LMS's file names."""
_SAID = {"name", "full name", "student", FIRST, LAST, "email address", "also", "learner"}
"""Columns that hold no other name."""
_END_OF_LINE = "end of line indicator"
"""A column of exports that have a ``#`` before each id, so that no spreadsheet takes it for a number."""
_TITLES = {"jr", "sr", "ii", "iii", "iv", "phd", "md", "msc", "bsc", "mba", "esq"}
"""Words behind a comma that are no first name."""


@dataclass(frozen=True)
class Member:
    """A learner of the class, as ``roster.csv`` keeps them.

    ``also``: other names of the learner: other spellings, other ids, and the number that an LMS gives them (digits alone; an
    id of digits, such as a number of matriculation, is written ``id 123``, Moodle's number in one assignment ``participant
    123``, and a mere name, which others may have as well, ``name team2``). ``name``: ``Doe, Jane`` if it is known which part
    is which; else ``Jane Doe``.
    """

    learner: str
    name: str = ""
    email: str = ""
    also: tuple[str, ...] = ()

    @property
    def person(self) -> Person:
        """The member for reports and the gradebook: with first and last name apart only if these are known."""
        parts = [part.strip() for part in self.name.split(",")]
        titles = [part for part in parts[1:] if bare(part) in _TITLES]
        words = [part for part in parts if part and part not in titles]
        if len(words) == 2:
            return Person(self.learner, words[1], " ".join((words[0], *titles)), self.email)
        return Person(self.learner, email=self.email, full_name=self.name.strip(" ,"))

    @property
    def names(self) -> list[str]:
        """All names of the learner: id, name, address and the others that are no number."""
        others = (one for one in self.also if not _NUMBER.fullmatch(one))
        return [self.learner, self.name, self.email, *map(_bare_other, others)]

    @property
    def numbers(self) -> set[str]:
        """The numbers that LMSs give to the learner: ``123``, or ``participant 123``."""
        found = (_NUMBER.fullmatch(one) for one in self.also)
        return {f"{one.group(1) or ''}{int(one[2])}".casefold() for one in found if one}

    @property
    def ids(self) -> set[str]:
        """Names that one person alone has: id, address, numbers, and words with a digit, which no parents give as a name."""
        others = (one.removeprefix("id ") for one in self.also if not _NUMBER.fullmatch(one))
        words = {plain(one) for one in others if " " not in one and re.search(r"[@\d]", one)}
        numbers = {f"number {one}" for one in self.numbers if one.isdecimal()}
        own = {plain(self.learner), plain(self.email)} | words | numbers
        return {one.removeprefix("#") for one in own} - {""}


@dataclass(frozen=True)
class Roster:
    """Names and numbers, and the learners that they stand for.

    ``notes``: sentences on the table. ``said``: number -> the status that a table of one assignment gives to its learner.
    """

    members: tuple[Member, ...] = ()
    notes: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def learners(self) -> tuple[str, ...]:
        """The ids of the members, in the order of the file."""
        return tuple(member.learner for member in self.members)

    @cached_property
    def _names(self) -> Mapping[str, set[str]]:
        """Every name, folded by :func:`plain` -> its learners."""
        found: dict[str, set[str]] = defaultdict(set)
        for member in self.members:
            for name in member.names:
                found[plain(name)].add(member.learner)
                found[plain(_first_name_first(name))].add(member.learner)
        # A learner's own id is nobody else's; annamaria may be Maria Anna, or Anna Maria.
        own = grouped((plain(learner), learner) for learner in self.learners)
        return {**found, **{name: {*learners} for name, learners in own.items()}, "": set()}

    @cached_property
    def _bare_names(self) -> Mapping[str, set[str]]:
        """Every name without signs and spaces -> its learners; also with the last words in front, as LMSs sort people."""
        found: dict[str, set[str]] = defaultdict(set)
        for name, learners in self._names.items():
            found[bare(name)] |= learners
        for member in self.members:
            # Ada King Lovelace may be lovelaceadaking there.
            words = member.name.replace(",", " ").split()
            for at in range(1, min(len(words), 5)):
                found[bare("".join((*words[at:], *words[:at])))].add(member.learner)
        return {**found, "": set()}

    @cached_property
    def _numbers(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for member in self.members:
            for number in member.numbers:
                found[number].add(member.learner)
        return found

    @cached_property
    def with_number(self) -> set[str]:
        """The learners with a number on this roster that an LMS uses for them in all lessons."""
        return set().union(*(learners for number, learners in self._numbers.items() if number.isdecimal()))

    def numbered(self, number: str) -> frozenset[str]:
        """The learners with this number: ``123``, or ``participant 123``."""
        return frozenset(self._numbers.get(number, ()))

    def called(self, name: str) -> frozenset[str]:
        """The learners that an LMS may mean by this name: it leaves out signs, accents and spaces, or turns a name round."""
        return self.named(name) or frozenset(self._bare_names.get(bare(name), ()))

    def named(self, name: str) -> frozenset[str]:
        """The learners with this name; letter case, underscores for spaces, and ``Doe, Jane`` do not matter."""
        if name in self.learners:
            return frozenset({name})  # AB1 is not ab1, if both are there
        turned = _first_name_first(name.replace("_", " "))
        return frozenset(self._names.get(plain(name)) or self._names.get(plain(turned)) or ())

    def owner(self, name: str) -> str:
        """The id of the one learner with this name, number or folder; empty if nobody has it, or several have."""
        found = self.named(name) or self.numbered(name)
        return min(found) if len(found) == 1 else ""

    def people(self, ids: Iterable[str]) -> list[Person]:
        """Everybody on the roster: once under each of these ``ids`` that is theirs, or else under their own id."""
        theirs = grouped((self.owner(one), one) for one in ids)
        found = []
        for member in self.members:
            here = theirs[member.learner]
            own = self._own_names(member, here)
            found += [replace(member.person, id=one, also=frozenset(own - {one})) for one in here or [member.learner]]
        return found

    def _own_names(self, member: Member, ids: Iterable[str]) -> set[str]:
        """The ids and names that only this member has, and all numbers; ``ids``: others that are known to be the member's."""
        names = {member.learner, *ids, *(one.removeprefix("id ") for one in member.also if not one.isdecimal())}
        own = {one for one in names if self.owner(one) == member.learner}
        return own | {f"number {one}" for one in member.numbers}


def _bare_other(name: str) -> str:
    """A name of the column ``also`` without the word that says its kind."""
    return name.removeprefix("id ").removeprefix("name ")


def _first_name_first(name: str) -> str:
    """``Doe, Jane`` as ``Jane Doe``."""
    last, _, first = name.partition(",")
    return f"{first} {last}"


def read_names(path: Path, option: str = "--names") -> Roster:
    """Read a CSV of names. ``option``: the one that named the file, for errors.

    Raises UsageError if it cannot be used, and CourseError if an id in it stands for two people.
    """
    sheet = read_sheet(path, "the names", option)
    rows = [_texts_in(row) for row in sheet.rows]
    heads = heads_of(rows)
    if _END_OF_LINE in heads:
        rows[1:] = map(_without_signs, rows[1:])
    columns = _id_columns(heads, rows)
    if not columns and not {FIRST, LAST} <= set(heads):
        named = "name one column 'learner'; every other column holds names that stand for that learner"
        then = REVEALED if IDENTIFIER in heads else named
        place = f"{path}, with the first line {', '.join(rows[0])[:120]!r}"
        raise UsageError("no column of the names says which learner it is", place, then)
    table = _TableOfNames(heads, columns)
    for line, row in enumerate(rows[1:], 2):
        table.add(f"line {line}", row)
    if table.clashes:
        raise CourseError(
            f"an id stands for two people, so nothing is taken: {some_of(table.clashes, 8)}",
            str(path),
            "give each of them an id of their own there, or leave one line of one person; then run the same command again",
        )
    notes = [*sheet.doubts, *(f"{path.name}, {note}" for note in table.notes)]
    notes += [f"{path.name}: {note}" for note in _what_is_read(rows, heads, columns)]
    members = table.members.values()
    nameless = [one.learner for one in members if not one.name]
    if 0 < len(nameless) < len(members):
        notes.append(f"{path.name}: no name stands beside {some_of(nameless, 8)}")
    if not members:
        then = f"mend the lines: {'; '.join(notes[:3])}" if notes else "add a line for each learner"
        raise UsageError("the names hold no learner", str(path), then)
    return Roster(tuple(members), tuple(notes), table.said)


def is_of_people(path: Path) -> bool:
    """Whether a file is a table of people for certain: one with a column of their ids or addresses, or with first and last names.

    A column ``id`` or ``name`` may be of anything.
    """
    if path.suffix.casefold() != ".csv":
        return False
    try:
        heads = {*heads_of(read_sheet(path, "the names", "").rows)}
    except UsageError:
        return False
    return bool(heads.intersection(LEARNER[: LEARNER.index("id")])) or {FIRST, LAST} <= heads


def _texts_in(row: Sequence[str]) -> list[str]:
    return [unquoted(cell.strip()) for cell in row]


def _without_signs(row: Sequence[str]) -> list[str]:
    return [cell.removeprefix("#") for cell in row]


@dataclass
class _TableOfNames:
    """What was read of a table of names so far. ``heads``: the meaning of each column. ``columns``: those that may give the id.

    ``notes``: sentences on lines that are left out. ``clashes``: lines of another person with an id from above.
    """

    heads: Sequence[str]
    columns: Sequence[str]
    members: dict[str, Member] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    clashes: list[str] = field(default_factory=list)

    def add(self, line: str, row: Sequence[str]) -> None:
        """Read one row. ``line``: its name for people."""
        cells = dict(zip(self.heads, row, strict=False))
        words = bare_words(_full_name(cells))
        # Of Canvas's lines some are no learner's.
        if _is_canvas(cells) and words in {("points", "possible"), ("student", "test"), ()}:
            if words == ("student", "test"):
                self.notes.append(f"{line}: Canvas's own student for tests is left out")
            return
        ids = filter(None, map(cells.get, self.columns))
        # Without any id first and last name together are one.
        learner = unicodedata.normalize("NFC", next(ids, _first_name_first(_full_name(cells)).strip()))
        if why := why_no_learner(learner):
            self.notes.append(f"{line}: {learner[:40]!r} cannot be a learner's id: {why}")
            return
        one = _member(learner, cells)
        self.said |= dict.fromkeys(one.numbers, cells.get(STATUS, ""))
        first = self.members.setdefault(learner, one)
        # One person of two names, who married for example, has one address.
        has_address = one.email and plain(one.email) == plain(first.email)
        if one.name and bare_words(one.name) != bare_words(first.name) and not has_address:
            self.clashes.append(f"{line}: {one.person.contact}, and above it {first.person.contact}")


def _what_is_read(rows: Sequence[Sequence[str]], heads: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """Sentences: which column is taken for the id, if none is called so, which for mere names, and which are not used at all."""
    called = dict(zip(heads, map(repr, rows[0]), strict=False))
    names = _columns_with_names(rows, heads)
    own = columns[0] if columns else ""
    told = f"the learner's id is what stands in the column {called[own]}" if own else "each learner's id is their name"
    if not own or own in _SAID - {"learner"}:
        yield f"no column holds ids, so {told}. If one does, call it 'learner' there and import it again"
    elif own != "learner":
        yield told
    others = [called[head] for head in names if head != own and not names[head].startswith("name ")]
    if others and own != "learner":
        yield f"read as other ids: {some_of(others, 8)}; who is on the roster by one of these keeps the id there"
    if mere := [head for head, name in names.items() if name.startswith("name ")]:
        yield f"other names of each learner: {some_of([*map(repr, mere)], 8)}; if they are none, take such a column out"
    used = {*_SAID, *columns, *names}
    if IDENTIFIER in heads:
        used.add(STATUS)
    columns_there = zip(rows[0], heads, *rows[1:], strict=False)
    if left := [name for name, head, *cells in columns_there if any(cells) and head not in used]:
        yield f"not used: {some_of([*map(repr, left)], 8)}"


def _columns_with_names(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> dict[str, str]:
    """The columns that hold other names of learners -> the last of these names."""
    names: dict[str, str] = {}
    for row in rows[1:]:
        for head, cell in zip(heads, row, strict=False):
            if name := _other_name(head, cell, heads):
                names[head] = name
    return names


def _id_columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """The column that gives the learner's id, and the columns that give it if that one is empty."""
    if {"id", FIRST, LAST} <= set(heads) and not _is_canvas(heads):
        return ("id",)  # as nbgrader's own list of students
    return [name for name in LEARNER if name in heads and _gives_ids(name, rows, heads.index(name))]


def _gives_ids(name: str, rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether a column holds ids. One that a person has called ``learner`` does, although an id stands there twice."""
    return is_filled(rows, column) or (name == "learner" and any(row[column] for row in rows[1:]))


def _is_canvas(heads: Collection[str]) -> bool:
    """Whether it is Canvas's export, with the names in one column or in two."""
    return "student" in heads or {"sis login id", FIRST} <= set(heads)


def _full_name(cells: Mapping[str, str]) -> str:
    """The name in a row: ``Doe, Jane``, or as one column holds it; empty if it has none."""
    last = cells.get(LAST, "").replace(",", " ")
    name = ", ".join(filter(None, (last, cells.get(FIRST, ""))))
    return name or cells.get("name") or cells.get("full name") or cells.get("student", "")


def _member(learner: str, cells: Mapping[str, str]) -> Member:
    """The learner of a row, with all names in it."""
    name = _full_name(cells)
    addresses = (cells[head] for head in LEARNER if head not in _SAID - {"learner"} and "@" in cells.get(head, ""))
    email = cells.get("email address") or next(addresses, "")
    said = {bare(learner), bare(name), bare(email)} - {""}
    written = [part.strip() for part in cells.get("also", "").split(_SEPARATOR)]
    others = filter(None, [*written, *(_other_name(head, cell, cells) for head, cell in cells.items())])
    also = dict.fromkeys(one for one in others if one.isdecimal() or bare(_bare_other(one)) not in said)
    return Member(learner, name, email, tuple(also))


def _other_name(head: str, cell: str, heads: Collection[str]) -> str:
    """Another name of the learner, if a cell of the learner's row holds one, as the column ``also`` writes it; else empty.

    ``heads``: the meanings of all columns.
    """
    if not bare(cell) or head in _SAID:  # a dash is no name; what a person wrote into the column also is one
        return ""
    number = re.sub(r"^.*?(\d*)$", r"\1", cell)
    if head == IDENTIFIER:
        return f"participant {int(number)}" if number else ""
    if _holds_numbers(head, heads) or (head == "number" and cell.isdecimal()):
        return number
    if head in LEARNER:
        return _as_other(cell)
    is_export = not {"student", IDENTIFIER, FIRST}.isdisjoint(heads)
    # A team, a year or a name that learners chose makes no two people one.
    if is_export and "learner" not in heads:
        return ""
    return f"name {cell}"


def _holds_numbers(head: str, heads: Collection[str]) -> bool:
    """Whether a column holds an LMS's own numbers of learners."""
    return head in _NUMBERS or (head == "id" and _is_canvas(heads))


ROSTER = "roster.csv"
_COLUMNS = ("learner", "name", "email", "also")


def kept_roster(root: Path) -> Roster | None:
    """The roster that is kept; None if there is none, or nobody on it. Raises UsageError if it is broken."""
    path = root / ROSTER
    then = "move away what lies there, or let your user read it"
    with disk_trouble(UsageError, "the roster cannot be read", path, then):
        if not path.exists() or not path.read_bytes().partition(b"\n")[2].strip():
            return None
    return read_names(path, "")


def members_of(root: Path) -> tuple[Member, ...]:
    """Everybody on the roster that is kept. Raises UsageError if it is broken."""
    return _kept(root).members


def _kept(root: Path) -> Roster:
    """The roster that is kept, or one with nobody on it."""
    return kept_roster(root) or Roster()


def is_class_known(root: Path) -> bool:
    """Whether a real class has left anything here: then no class is made up."""
    return (root / ROSTER).exists() or any(root.glob("collected/*/list.json"))


@dataclass(frozen=True)
class Enrolment:
    """What became of learners who were put on a roster.

    ``ids``: the id that each came with -> the id on the roster; ``added``: those who are new. ``notes``: sentences on each who
    gets another name, and on each two who may be one person. ``changed``: column -> the number of other learners with another
    text in it now. ``said``: as the table's roster has it.
    """

    ids: dict[str, str]
    added: tuple[str, ...]
    notes: tuple[str, ...]
    changed: Mapping[str, int] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)


def enrol(root: Path, came: Sequence[Member]) -> Enrolment:
    """Put learners on the roster, or what is new of them. Raises UsageError.

    A newcomer who shares an id with a member is that member, unless that member came as well, or has another name: families share
    addresses.
    """
    kept = _kept(root)
    enrolling = _Enrolling(kept.members, came)
    for one in came:
        enrolling.add(one)
    _write(root, tuple(enrolling.there.values()))
    before = {member.learner: member for member in kept.members}
    added = tuple(enrolling.there.keys() - before.keys())
    notes = dict.fromkeys((*kept.notes, *enrolling.notes))
    return Enrolment(enrolling.ids, added, tuple(notes), _changed(before, enrolling.there))


class _Enrolling:
    """The roster while learners are put on it: ``there``, ``ids`` and ``notes`` become those of :class:`Enrolment`."""

    def __init__(self, members: Sequence[Member], came: Sequence[Member]) -> None:
        self._before = {member.learner: member for member in members}
        self._ids_before = {member.learner: member.ids for member in members}
        self._words_before = {member.learner: bare_words(member.name) for member in members}
        self._claimed = {plain(member.learner) for member in came}
        self._having = Counter(chain.from_iterable(one.ids for one in came))
        self.there = dict(self._before)
        self.ids: dict[str, str] = {}
        self.notes: list[str] = []

    def add(self, one: Member) -> None:
        """Put a newcomer on the roster: as a member of before, or as a new one."""
        learner = one.learner
        words = bare_words(one.name)
        own = one.ids
        alike = [name for name, ids in self._ids_before.items() if name != learner and not own.isdisjoint(ids)]
        if learner not in self.there and len(alike) == 1 and self._is_one(one, self._before[alike[0]]):
            learner = alike.pop()
            self._claimed.add(plain(learner))
        if learner not in self.there and words:
            alike += [name for name, known_words in self._words_before.items() if known_words == words]
        self.ids[one.learner] = learner
        self.notes += [_may_be_one(self._before[other], one, learner) for other in alike]
        known = self.there.get(learner)
        if known is None:
            self.there[learner] = one
            return
        if _differ(words, bare_words(known.name)):
            self.notes.append(_is_renamed(known, one, learner))
        self.there[learner] = _together(known, one)

    def _is_one(self, one: Member, old: Member) -> bool:
        """Whether a newcomer is a member of before, who shares an id with the newcomer.

        An id that several newcomers have says that only together with the name. Two ids leave no doubt: a person has made one
        line of the two.
        """
        shared = one.ids & old.ids
        words = bare_words(one.name)
        is_open = plain(old.learner) not in self._claimed
        if all(self._having[name] > 1 for name in shared):
            return is_open and bool(words) and words == bare_words(old.name)
        return len(shared) > 1 or (is_open and not _differ(words, bare_words(old.name)))


def _may_be_one(old: Member, one: Member, learner: str) -> str:
    """A note on a member of before and a newcomer, who is on the roster as ``learner``."""
    also = f" {_SEPARATOR} ".join(filter(None, (_as_other(learner), one.email)))
    then = (
        f"make one line of the two in {ROSTER}, with {also} in its column also, behind a {_SEPARATOR} if it holds more"
    )
    return f"{old.person.contact} and {one.person.contact} may be one person. If they are: {then}"


def _is_renamed(known: Member, one: Member, learner: str) -> str:
    """A note on a member who came with another name."""
    told = f"{learner} was {known.person.name}, and is {one.person.name} now: an id of theirs is the same"
    then = course_command(shlex.join(["roster", "add", learner, "--name", known.name]))
    return f"{told}. If they are two, give who came an id of their own; the name comes back by: {then}"


def _differ(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether two people have names, and these are not the same."""
    return bool(words and others) and words != others


def _changed(before: Mapping[str, Member], now: Mapping[str, Member]) -> dict[str, int]:
    """Column -> the number of members of before with another text in it now; without columns that nobody has changed."""
    cells = product(_COLUMNS, before)
    return Counter(head for head, name in cells if getattr(before[name], head) != getattr(now[name], head))


def _together(one: Member, other: Member) -> Member:
    """One member with the names of both. If they have different ones, that of ``other`` counts, who came last."""
    name = other.name or one.name
    email = other.email or one.email
    if "," in one.name and "," not in name and bare_words(one.name) == bare_words(name):
        name = one.name  # which part is the last name is known from before
    known = {plain(text) for text in (one.learner, name, email, "")}
    # An address that is no longer the one to write to is a name of theirs still.
    also = dict.fromkeys((_as_other(other.learner), *one.also, *other.also, one.email))
    found = tuple(text for text in also if text.isdecimal() or plain(text.removeprefix("id ")) not in known)
    return replace(one, name=name, email=email, also=found)


def _as_other(learner: str) -> str:
    """An id, as another line's column ``also`` holds it."""
    return f"id {learner}" if learner.isdecimal() else learner


def import_roster(root: Path, table: Path, option: str = "--names") -> Enrolment:
    """Put everybody of a table on the roster. ``option``: the one that named the table, for errors.

    Raises UsageError if the table cannot be used, and CourseError if an id may stand for another person than before.
    """
    came = read_names(table, option)
    before = members_of(root)
    _refuse_others(before, came.members, table)
    _refuse_same_names(before, came.members, table)
    done = enrol(root, came.members)
    notes = [*came.notes, *done.notes]
    if left := sorted({one.learner for one in before}.difference(done.ids.values())):
        stay = f"on the roster, and not in {table.name}: {some_of(left, 8)}"
        notes.append(f"{stay}: they stay there; `roster remove` takes off who has left")
    return replace(done, notes=tuple(notes), said=came.said)


def _refuse_others(before: Sequence[Member], came: Sequence[Member], table: Path) -> None:
    """Raise CourseError if another person comes under a learner's id, by all else that is known of the two.

    A login that somebody has given up may be given to another person, who must not get marks and work with it.
    """
    ids = set().union(*(one.ids for one in came))
    now = {one.learner: one for one in came}
    clashes = []
    for old in before:
        one = now.get(old.learner)
        if one is not None and _is_another(old, one, ids):
            clashes.append(f"{old.person.contact} is on the roster, and {one.person.contact} comes")
    if clashes:
        add = course_command("roster add ID --name NAME --email ADDRESS")
        raise CourseError(
            f"an id may stand for another person than before, so nothing is taken: {some_of(clashes, 8)}",
            str(table),
            "if they are two, give who comes an id of their own there; if they are one, say so first: "
            f"{add}; then run the same command again",
        )


def _refuse_same_names(before: Sequence[Member], came: Sequence[Member], table: Path) -> None:
    """Raise CourseError if most of those who come have a name of the roster, and none an id: each would be there twice."""
    ids = set().union(*(one.ids for one in before))
    # Who is on the roster by name only may get an id.
    names = {bare_words(one.name) for one in before if bare_words(one.learner) != bare_words(one.name)} - {()}
    alike = [one.person.contact for one in came if bare_words(one.name) in names]
    if 2 * len(alike) > len(came) and all(ids.isdisjoint(one.ids) for one in came):
        raise CourseError(
            f"the names are those of the roster, and no id or address is, so nothing is taken: {some_of(alike, 8)}",
            str(table),
            "write the ids that they have on the roster into a column 'learner' there, then run the same command again; if they "
            f"are other people, say so of one first: {course_command('roster add ID --name NAME')}",
        )


def _is_another(old: Member, one: Member, came: Collection[str]) -> bool:
    """Whether two with one id are two people: they share no other id, and have two names or the old one's ids are others'.

    ``came``: all ids of those who come.
    """
    mine = one.ids - {plain(old.learner)}
    theirs = old.ids - {plain(old.learner)}
    is_renamed = "" not in (one.name, old.name) and bare_words(one.name) != bare_words(old.name)
    if not theirs or not mine.isdisjoint(theirs):
        return False
    return (is_renamed and bool(mine)) or not theirs.isdisjoint(came)


def strike_off(root: Path, learners: Collection[str]) -> None:
    """Take learners off the roster. Raises UsageError."""
    before = members_of(root)
    left = [member for member in before if member.learner not in learners]
    if len(left) < len(before):
        _write(root, left)


def _write(root: Path, members: Sequence[Member]) -> None:
    rows: list[Sequence[str]] = [_COLUMNS]
    for one in members:
        also = f" {_SEPARATOR} ".join(part.replace(_SEPARATOR, " ") for part in one.also)
        rows.append((one.learner, one.name, one.email, also))
    data = csv_of(rows)
    path = (root / ROSTER).absolute()
    then = "move away what lies there, free some space, or let your user write there"
    with disk_trouble(UsageError, "the roster cannot be written", path, then):
        if not path.is_file() or path.read_bytes() != data:
            replace_file(path, data)
