"""The class: its members, the names and numbers that stand for each of them, the tables that say so, and the roster that is kept.

A table is a hand-made one (a column ``learner``, every other column holds names that stand for that learner), Canvas's export of
its gradebook, and Moodle's list of participants or grading worksheet, in any of its languages. Every id that an export has of a
person is a name of theirs: the same person may come in another system's export.

The roster that is kept is one as well: ``roster.csv`` in the course's folder, which people can read and change.
A person in another table is the same person if an id is the same: a learner's id, an address, a number of matriculation.
A name makes nobody the same: a newcomer with somebody else's name is told, and the instructor says whether they are one.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
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
_TITLES = {"jr", "sr", "ii", "iii", "iv", "phd", "md", "msc", "bsc", "mba", "esq"}
"""What stands behind a comma and is no first name."""


@dataclass(frozen=True)
class Member:
    """A learner of the class, as ``roster.csv`` keeps them.

    ``also``: what else stands for them: other spellings, other ids, and the number that an LMS gives them (digits alone; an
    id of digits, such as a number of matriculation, is written ``id 123``, Moodle's number in one assignment ``participant
    123``, and a mere name, which others may have as well, ``name team2``). ``name``: ``Doe, Jane`` where it is known which part
    is which; ``Jane Doe`` where it is not.
    """

    learner: str
    name: str = ""
    email: str = ""
    also: tuple[str, ...] = ()

    @property
    def person(self) -> Person:
        """As reports and the gradebook know them: first and last name apart only if that is known."""
        parts = [part.strip() for part in self.name.split(",")]
        titles = [part for part in parts[1:] if bare(part) in _TITLES]
        words = [part for part in parts if part and part not in titles]
        if len(words) == 2:
            return Person(self.learner, words[1], " ".join((words[0], *titles)), self.email)
        return Person(self.learner, email=self.email, full_name=self.name.strip(" ,"))

    @property
    def names(self) -> list[str]:
        """All that they are called."""
        told = (one for one in self.also if not _NUMBER.fullmatch(one))
        return [self.learner, self.name, self.email, *(one.removeprefix("id ").removeprefix("name ") for one in told)]

    @property
    def numbers(self) -> set[str]:
        """What LMSs call them: ``123``, or ``participant 123``."""
        found = (_NUMBER.fullmatch(one) for one in self.also)
        return {f"{one.group(1) or ''}{int(one[2])}".casefold() for one in found if one}

    @property
    def ids(self) -> set[str]:
        """What is one person's alone: id, address, numbers, and words with a digit in them, which no parents give as a name."""
        told = (one.removeprefix("id ") for one in self.also if not _NUMBER.fullmatch(one))
        words = {plain(one) for one in told if " " not in one and re.search(r"[@\d]", one)}
        numbers = {f"number {one}" for one in self.numbers if one.isdecimal()}
        return ({plain(self.learner), plain(self.email)} - {""}) | words | numbers


@dataclass(frozen=True)
class Roster:
    """Names and numbers, and the learners that they stand for. ``said``: number -> what a table of one assignment says of it."""

    members: tuple[Member, ...] = ()
    notes: tuple[str, ...] = ()
    said: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def learners(self) -> tuple[str, ...]:
        """Their ids, in the order of the file."""
        return tuple(member.learner for member in self.members)

    @cached_property
    def _names(self) -> Mapping[str, set[str]]:
        """Every name as it is, and its learners."""
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
        """Every name without signs and spaces, and its learners; also with the last words in front, as LMSs sort people."""
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
    def _numbers(self) -> Mapping[str, Sequence[str]]:
        return grouped((number, one.learner) for one in self.members for number in one.numbers)

    @cached_property
    def with_number(self) -> set[str]:
        """The learners with a number on this roster that an LMS uses for them in all lessons."""
        return set().union(*(learners for number, learners in self._numbers.items() if number.isdecimal()))

    def numbered(self, number: str) -> frozenset[str]:
        """The learners with this number: ``123``, or ``participant 123``."""
        return frozenset(self._numbers.get(number, ()))

    def called(self, name: str) -> frozenset[str]:
        """The learners that an LMS may call so: it leaves out signs, accents and spaces, or turns a name round."""
        return self.named(name) or frozenset(self._bare_names.get(bare(name), ()))

    def named(self, name: str) -> frozenset[str]:
        """The learners who are called so; letter case, underscores for spaces, and ``Doe, Jane`` do not matter."""
        if name in self.learners:
            return frozenset({name})  # AB1 is not ab1, if both are there
        turned = _first_name_first(name.replace("_", " "))
        return frozenset(self._names.get(plain(name)) or self._names.get(plain(turned)) or ())

    def owner(self, name: str) -> str:
        """The learner who alone has this name, number or folder; empty if nobody has, or several."""
        found = self.named(name) or self.numbered(name)
        return min(found) if len(found) == 1 else ""

    def people(self, ids: Iterable[str]) -> list[Person]:
        """Everybody, under each of these ids that is theirs; under their own where none is."""
        theirs = grouped((self.owner(one), one) for one in ids)
        found = []
        for member in self.members:
            here = theirs[member.learner]
            names = {member.learner, *here, *(one.removeprefix("id ") for one in member.also if not one.isdecimal())}
            own = {one for one in names if self.owner(one) == member.learner}
            own |= {f"number {one}" for one in member.numbers if len(self.numbered(one)) == 1}
            found += [replace(member.person, id=one, also=frozenset(own - {one})) for one in here or [member.learner]]
        return found


def _first_name_first(name: str) -> str:
    """``Doe, Jane`` as ``Jane Doe``."""
    last, _, first = name.partition(",")
    return f"{first} {last}"


def read_names(path: Path, option: str = "--names") -> Roster:
    """Read a CSV of names, which ``option`` has named.

    Raises UsageError if it cannot be used, and CourseError if an id in it stands for two people.
    """
    sheet = read_sheet(path, "the names", option)
    rows = [[unquoted(cell.strip()) for cell in row] for row in sheet.rows]
    heads = heads_of(rows)
    columns = _id_columns(heads, rows)
    if not columns and not {FIRST, LAST} <= set(heads):
        raise UsageError(
            "no column of the names says which learner it is",
            f"{path}, with the first line {', '.join(rows[0])[:120]!r}",
            REVEALED
            if IDENTIFIER in heads
            else "name one column 'learner'; every other column holds names that stand for that learner",
        )
    members: dict[str, Member] = {}
    said_of: dict[str, str] = {}
    notes = sheet.doubts
    clashes: list[str] = []
    for line, row in enumerate(rows[1:], 2):
        cells = dict(zip(heads, row, strict=False))
        if _is_canvas_own(cells):
            is_test = bare_words(_full_name(cells)) == ("student", "test")
            notes += [f"{path.name}, line {line}: Canvas's own student for tests is left out"] * is_test
            continue
        said = filter(None, map(cells.get, columns))
        # Without any id first and last name together are one.
        learner = unicodedata.normalize("NFC", next(said, _first_name_first(_full_name(cells)).strip()))
        if why := why_no_learner(learner):
            notes.append(f"{path.name}, line {line}: {learner[:40]!r} cannot be a learner's id: {why}")
        else:
            one = _member(learner, cells)
            said_of |= dict.fromkeys(one.numbers, cells.get(STATUS, ""))
            first = members.setdefault(learner, one)
            # One person of two names, who married for example, has one address.
            is_other = one.name and bare_words(one.name) != bare_words(first.name)
            if is_other and not (one.email and plain(one.email) == plain(first.email)):
                clashes.append(f"line {line}: {one.person.contact}, and above it {first.person.contact}")
    if clashes:
        raise CourseError(
            f"an id stands for two people, so nothing is taken: {some_of(clashes, 8)}",
            str(path),
            "give each of them an id of their own there, or leave one line of one person; then run the same command again",
        )
    notes += [f"{path.name}: {note}" for note in _what_is_read(rows, heads, columns)]
    nameless = [one.learner for one in members.values() if not one.name]
    notes += [f"{path.name}: no name stands beside {some_of(nameless, 8)}"] * (0 < len(nameless) < len(members))
    if not members:
        raise UsageError(
            "the names hold no learner",
            str(path),
            f"mend the lines: {'; '.join(notes[:3])}" if notes else "add a line for each learner",
        )
    return Roster(tuple(members.values()), tuple(notes), said_of)


def _what_is_read(rows: Sequence[Sequence[str]], heads: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    """Which column is taken for the id, where none is called so, which for mere names, and which are not used at all."""
    if columns and columns[0] != "learner":
        yield f"the learner's id is what stands in the column {rows[0][heads.index(columns[0])]!r}"
    cells = ((head, cell) for row in rows[1:] for head, cell in zip(heads, row, strict=False))
    names = {head: name for head, cell in cells if (name := _other_name(head, cell, heads))}
    if mere := [head for head, name in names.items() if name.startswith("name ")]:
        yield f"other names of each learner: {some_of([*map(repr, mere)], 8)}; if they are none, take such a column out"
    used = {*_SAID, *columns, *names, *[STATUS] * (IDENTIFIER in heads)}
    filled = [any(column) for column in zip(*rows[1:], strict=False)]
    if left := [name for name, head, told in zip(rows[0], heads, filled, strict=False) if told and head not in used]:
        yield f"not used: {some_of([*map(repr, left)], 8)}"


def _id_columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Sequence[str]:
    """The column that gives the learner's id, and the columns that give it where that one is empty."""
    if {"id", FIRST, LAST} <= set(heads) and not _is_canvas(heads):
        return ("id",)  # as nbgrader's own list of students
    return [name for name in LEARNER if name in heads and is_filled(rows, heads.index(name))]


def _is_canvas(heads: Collection[str]) -> bool:
    """Whether it is Canvas's export, with the names in one column or in two."""
    return "student" in heads or {"sis login id", FIRST} <= set(heads)


def _is_canvas_own(cells: Mapping[str, str]) -> bool:
    """Whether it is a line of that export that is no learner's."""
    return _is_canvas(cells) and bare_words(_full_name(cells)) in {("points", "possible"), ("student", "test"), ()}


def _full_name(cells: Mapping[str, str]) -> str:
    last, first = cells.get(LAST, "").replace(",", " "), cells.get(FIRST, "")
    name = ", ".join(filter(None, (last, first)))
    return name or next((cells[head] for head in ("name", "full name", "student") if cells.get(head)), "")


def _member(learner: str, cells: Mapping[str, str]) -> Member:
    name = _full_name(cells)
    addresses = (cells[head] for head in LEARNER if head not in _SAID - {"learner"} and "@" in cells.get(head, ""))
    email = cells.get("email address") or next(addresses, "")
    said = {bare(learner), bare(name), bare(email)} - {""}
    written = [part.strip() for part in cells.get("also", "").split(_SEPARATOR)]
    others = filter(None, [*written, *(_other_name(head, cell, cells) for head, cell in cells.items())])
    also = dict.fromkeys(
        one for one in others if bare(one.removeprefix("id ").removeprefix("name ")) not in said or one.isdecimal()
    )
    return Member(learner, name, email, tuple(also))


def _other_name(head: str, cell: str, heads: Collection[str]) -> str:
    """Another name of the learner, if a cell of the learner's row holds one, as the column ``also`` writes it; else empty."""
    if not bare(cell) or head in _SAID:  # a dash is no name; what a person wrote into the column also is one
        return ""
    number = re.sub(r"^.*?(\d*)$", r"\1", cell)
    if head == IDENTIFIER:
        return f"participant {int(number)}" if number else ""
    if head in _NUMBERS or (head == "id" and _is_canvas(heads)) or (head == "number" and cell.isdecimal()):
        return number
    if head in LEARNER:
        return f"id {cell}" if cell.isdecimal() else cell
    is_export = {"student", IDENTIFIER, FIRST} & set(heads)
    # A team, a year or a name that learners chose makes no two people one.
    return "" if is_export and "learner" not in heads else f"name {cell}"


ROSTER = "roster.csv"
_COLUMNS = ("learner", "name", "email", "also")


def kept_roster(root: Path) -> Roster | None:
    """The roster that is kept. Raises UsageError if it is broken."""
    path = root / ROSTER
    if not path.is_file() or not path.read_bytes().partition(b"\n")[2].strip():
        return None
    return read_names(path)


def members_of(root: Path) -> tuple[Member, ...]:
    """Everybody on the roster that is kept. Raises UsageError if it is broken."""
    return _kept(root).members


def _kept(root: Path) -> Roster:
    """The roster that is kept, or one of nobody."""
    return kept_roster(root) or Roster()


def is_class_known(root: Path) -> bool:
    """Whether a real class has left anything here: then no class is made up."""
    return (root / ROSTER).exists() or any(root.glob("collected/*/list.json"))


@dataclass(frozen=True)
class Enrolment:
    """What became of those who were put on a roster.

    ``ids``: their id there, by the one that they came with; ``added``: who is new. ``notes``: on each who gets another name, and
    on each two who may be one person. ``changed``: column -> of how many of the
    others something else stands there now. ``said``: as the table's roster has it.
    """

    ids: dict[str, str]
    added: tuple[str, ...]
    notes: tuple[str, ...]
    changed: Mapping[str, int] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)


def enrol(root: Path, came: Sequence[Member]) -> Enrolment:
    """Put learners on the roster, or what is new of them. Raises UsageError.

    Who shares an id with one of before is that one, unless that one came, too, or has another name: families share addresses.
    """
    kept = _kept(root)
    before = {member.learner: member for member in kept.members}
    there = dict(before)
    said = {name: (member.ids, bare_words(member.name)) for name, member in before.items()}
    claimed = {plain(member.learner) for member in came}
    having = Counter(chain.from_iterable(one.ids for one in came))
    ids: dict[str, str] = {}
    notes: dict[str, None] = dict.fromkeys(kept.notes)
    for one in came:
        learner, words, own = one.learner, bare_words(one.name), one.ids
        alike = [name for name, (known_ids, _) in said.items() if not own.isdisjoint(known_ids) and name != learner]
        if learner not in there and len(alike) == 1 and _is_one(one, before[alike[0]], having, claimed):
            learner = alike.pop()
            claimed.add(plain(learner))
        if learner not in there and words:
            alike += [name for name, (_, known_words) in said.items() if known_words == words]
        ids[one.learner] = learner
        for other in alike:
            also = f" {_SEPARATOR} ".join(filter(None, (_as_other(learner), one.email)))
            then = f"make one line of the two in {ROSTER}, with {also} in its column also, behind a {_SEPARATOR} if it holds more"
            two = f"{before[other].person.contact} and {one.person.contact}"
            notes[f"{two} may be one person. If they are: {then}"] = None
        known = there.get(learner)
        if known is not None and _differ(words, bare_words(known.name)):
            told = f"{learner} was {known.person.name}, and is {one.person.name} now: an id of theirs is the same"
            then = course_command(shlex.join(["roster", "add", learner, "--name", known.name]))
            notes[f"{told}. If they are two, give who came an id of their own; the name comes back by: {then}"] = None
        there[learner] = one if known is None else _together(known, one)
    _write(root, tuple(there.values()))
    return Enrolment(ids, tuple(there.keys() - before.keys()), tuple(notes), _changed(before, there))


def _is_one(one: Member, old: Member, having: Mapping[str, int], claimed: Collection[str]) -> bool:
    """Whether a newcomer is one of before, who has an id of theirs. ``having``: id -> how many come with it.

    What several have makes nobody one without the name. Two ids leave no doubt: a person has made one line of the two.
    """
    shared = one.ids & old.ids
    words, is_open = bare_words(one.name), plain(old.learner) not in claimed
    if all(having[name] > 1 for name in shared):
        return is_open and bool(words) and words == bare_words(old.name)
    return len(shared) > 1 or (is_open and not _differ(words, bare_words(old.name)))


def _differ(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether two people have names, and these are not the same."""
    return bool(words and others) and words != others


def _changed(before: Mapping[str, Member], now: Mapping[str, Member]) -> dict[str, int]:
    """Column -> of how many something else stands there now."""
    pairs = [(one, now[learner]) for learner, one in before.items()]
    counts = {head: sum(getattr(one, head) != getattr(other, head) for one, other in pairs) for head in _COLUMNS}
    return {head: count for head, count in counts.items() if count}


def _together(one: Member, other: Member) -> Member:
    """One member with the names of both; where the two say something else, what came last counts."""
    name, email = other.name or one.name, other.email or one.email
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
    """Put everybody of a table on the roster, which ``option`` has named. Raises UsageError."""
    came, before = read_names(table, option), members_of(root)
    _refuse_others(before, came.members, table)
    done = enrol(root, came.members)
    left = sorted({one.learner for one in before}.difference(done.ids.values()))
    told = (
        f"{table.name} does not have {some_of(left, 8)}, who stay on the roster; `roster remove` takes off who has left"
    )
    return replace(done, notes=(*came.notes, *done.notes, *[told] * bool(left)), said=came.said)


def _refuse_others(before: Sequence[Member], came: Sequence[Member], table: Path) -> None:
    """Raise CourseError if somebody comes under a learner's id who is another, by all else that is known of the two.

    A login that somebody has given up becomes another's; marks and work would be, too.
    """
    ids = set().union(*(one.ids for one in came))
    now = {one.learner: one for one in came}
    clashes = [
        f"{old.person.contact} is on the roster, and {now[old.learner].person.contact} comes"
        for old in before
        if old.learner in now and _is_another(old, now[old.learner], ids)
    ]
    if clashes:
        add = course_command("roster add ID --name NAME --email ADDRESS")
        raise CourseError(
            f"an id may stand for another person than before, so nothing is taken: {some_of(clashes, 8)}",
            str(table),
            "if they are two, give who comes an id of their own there; if they are one, say so first: "
            f"{add}; then run the same command again",
        )


def _is_another(old: Member, one: Member, came: Collection[str]) -> bool:
    """Whether two with one id share no other, and have two names, or others who ``came`` have the old one's ids."""
    mine, theirs = ({*each.ids} - {plain(old.learner)} for each in (one, old))
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
    also = [f" {_SEPARATOR} ".join(part.replace(_SEPARATOR, " ") for part in one.also) for one in members]
    rows = [(one.learner, one.name, one.email, others) for one, others in zip(members, also, strict=True)]
    data = csv_of([_COLUMNS, *rows])
    path = (root / ROSTER).absolute()
    then = "move away what lies there, free some space, or let your user write there"
    with disk_trouble(UsageError, "the roster cannot be written", path, then):
        if not path.is_file() or path.read_bytes() != data:
            replace_file(path, data)
