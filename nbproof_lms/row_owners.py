"""Which learner each row of an LMS's export belongs to: nobody is guessed.

An id is compared with ids of its kind: numbers that the LMS gives, addresses, and all others, such as a login. Where row and
learner both have one of a kind, it speaks for the learner or against; so does the name, which weighs less. A row belongs to the
learner who is found by an id, or by name where no id is known, unless more speaks against that learner.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nbproof.gradebook.marks import Person
from nbproof.grouping import grouped
from nbproof_lms.csv_table import Sheet
from nbproof_lms.names import bare_words, plain
from nbproof_lms.system import GradeTable

__all__ = ["RowOwners", "row_owners"]

_Fact = tuple[str, str]
"""What is said of a learner, or in a row: its kind, and the text."""

_WEIGHTS = {"number": 2, "address": 2, "id": 2, "name": 1, "order": 1, "any": 0}
"""``order``: the name, where both say which part is the last name. ``any``: a number that the learner's id may be."""


@dataclass(frozen=True)
class RowOwners:
    """``rows``: learner -> the rows that may be theirs. ``mixed``: row -> the people with an id or the name in it, if nobody has
    all of these. ``doubted``: learner -> rows with an id or the name of theirs, and the kinds of what speaks against these rows.
    """

    rows: Mapping[str, set[int]]
    mixed: dict[int, set[str]] = field(default_factory=dict)
    doubted: dict[str, dict[int, list[str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Row:
    """``ids``: column -> the id in it; ``weak``: what else it says; ``spelled``: its ids as they stand there."""

    ids: Mapping[int, _Fact]
    weak: set[_Fact]
    spelled: set[str]


def row_owners(sheet: Sheet, table: GradeTable, people: Mapping[str, Person]) -> RowOwners:
    """The owners of all rows."""
    rows = [*enumerate(sheet.rows)][table.first_row :]
    search = _Search(people, {at: _row_of(cells, table) for at, cells in rows})
    search.by_ids()
    search.exact_first()
    search.by_names()
    return search.found


class _Search:
    """What is found so far."""

    def __init__(self, people: Mapping[str, Person], rows: Mapping[int, _Row]) -> None:
        self.found = RowOwners({learner: set() for learner in people})
        self._rows = rows
        self._facts = {learner: {*_facts_of(person)} for learner, person in people.items()}
        self._spelled = {learner: {one.email, one.lms_id, *one.ids} for learner, one in people.items()}
        self._whose = grouped((fact, learner) for learner, own in self._facts.items() for fact in own)
        ids = [fact for row in rows.values() for fact in row.ids.items()]
        # A column that has no id of anybody here may hold ids that nobody here has told: they speak against nobody.
        self._known = {(column, fact[0]) for column, fact in ids if fact[0] != "id" or fact in self._whose}

    def by_ids(self) -> None:
        for at, row in self._rows.items():
            several = [{*self._whose[fact]} for fact in row.ids.values() if fact in self._whose]
            # AB1 and ab1 may be two people.
            exact = [{one for one in who if self._spelled[one] & row.spelled} or who for who in several]
            who = set.intersection(*exact) if exact else set()
            self._judge(at, who)
            if exact and not who:
                self.found.mixed[at] = set.union(*exact)

    def exact_first(self) -> None:
        for learner, its in self.found.rows.items():
            its &= {at for at in its if self._spelled[learner] & self._rows[at].spelled} or its
            # Of rows with one address those of the learner's name: a family may have it.
            its &= {at for at in its if self._facts[learner] & self._rows[at].weak} or its

    def by_names(self) -> None:
        there = {learner for learner, its in self.found.rows.items() if its}
        for at, row in self._rows.items():
            # Canvas's own row for a test.
            if self._whose.keys().isdisjoint(row.ids.values()) and ("name", "student test") not in row.weak:
                found = (self._whose.get(fact, ()) for fact in row.weak)
                self._judge(at, set().union(*found) - there)

    def _judge(self, at: int, who: Collection[str]) -> None:
        row = self._rows[at]
        said = {fact for column, fact in row.ids.items() if (column, fact[0]) in self._known} | row.weak
        # A name that only others here have: a column of the export may have been sorted alone.
        called = {one for fact in row.weak if fact[0] == "name" for one in self._whose.get(fact, ())}
        if who and called and called.isdisjoint(who):
            self.found.mixed[at] = called | {*who}
            return
        for learner in who:
            if against := _against(self._facts[learner], said):
                self.found.doubted.setdefault(learner, {})[at] = against
            else:
                self.found.rows[learner].add(at)


def _row_of(cells: Sequence[str], table: GradeTable) -> _Row:
    # Some write #ada.
    said = {column: text for column in table.ids if (text := cells[column].strip().removeprefix("#"))}
    ids = {column: _id_in(text, column, table) for column, text in said.items()}
    return _Row(ids, {*_weak_facts(cells, table)}, {*said.values()})


def _facts_of(person: Person) -> Iterator[_Fact]:
    for text in filter(None, (*person.ids, person.email, person.lms_id)):
        start, _, number = text.rpartition("number ")
        kind = "number" if number and not start and text != number else "address" if "@" in text else "id"
        yield kind, plain(number if kind == "number" else text)
        if kind == "id":
            yield "any", plain(text)
    if person.lms_id:
        yield "number", plain(person.lms_id)
    yield from _name_facts(person.first_name, person.last_name, person.name)


def _id_in(cell: str, column: int, table: GradeTable) -> _Fact:
    kind = "address" if "@" in cell else "id"
    return "number" if column in table.numbers else kind, plain(cell)


def _weak_facts(row: Sequence[str], table: GradeTable) -> Iterator[_Fact]:
    """What else a row says: the name, and its number, which may be what somebody's folder is called."""
    for column in table.numbers:
        yield "any", plain(row[column])
    *_, first, last = ("", "", *(row[column] for column in table.names))
    if not first:
        last, _, first = last.partition(",")
    yield from _name_facts(first, last, f"{first} {last}")


def _name_facts(first: str, last: str, name: str) -> Iterator[_Fact]:
    words = bare_words(name)
    if len(words) > 1:
        yield "name", " ".join(words)
        if first.strip() and last.strip():
            yield "order", f"{bare_words(first)} {bare_words(last)}"


def _against(mine: set[_Fact], theirs: set[_Fact]) -> list[str]:
    """The kinds of what speaks against one owner of both; none if as much speaks for it."""
    both = {kind for kind, _ in mine} & {kind for kind, _ in theirs}
    counted = both - ({"name"} if "order" in both else set())
    same = {kind for kind, _ in mine & theirs} & counted
    other = counted - same - {"any"}
    outweighs = sum(map(_WEIGHTS.__getitem__, other)) > sum(map(_WEIGHTS.__getitem__, same))
    return sorted(other) if outweighs else []
