"""Which learner each row of an LMS's export belongs to: nobody is guessed.

An id is compared with ids of its kind: numbers that the LMS gives, addresses, and all others, such as a login. If row and
learner both have one of a kind, it speaks for the learner or against; so does the name, which weighs less. A row belongs to the
learner who is found by an id, or by name if no id is known, unless more speaks against that learner. Where the table has the
LMS's own numbers of the class, another number is enough against: the LMS takes a grade by it, whatever else stands in the row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from nbproof.gradebook.marks import Person
from nbproof_lms.csv_table import Sheet
from nbproof_lms.names import bare_words, plain
from nbproof_lms.system import GradeTable

__all__ = ["RowOwners", "row_owners"]

_Fact = tuple[str, str]
"""One fact about a learner, or in a row: its kind, and the text."""

_WEIGHTS = {"number": 2, "participant number": 2, "address": 2, "id": 2, "name": 1, "order": 1, "any": 0}
"""``order``: the name, if both say which part is the last name. ``any``: a number that the learner's id may be. ``participant
number``: the one in the table's assignment."""
_ASSIGNED = -1
"""The column of the number in the table's assignment."""


@dataclass(frozen=True)
class RowOwners:
    """The learners that the rows of a table belong to. Rows are told by their numbers.

    ``rows``: learner -> the rows that may be theirs. ``mixed``: row -> the people with an id or the name in it, if nobody has
    all of these. ``doubted``: learner -> rows with an id or the name of theirs, and the kinds of facts against these rows.
    """

    rows: Mapping[str, set[int]]
    mixed: dict[int, set[str]] = field(default_factory=dict)
    doubted: dict[str, dict[int, list[str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Row:
    """A row. ``ids``: column -> the id in it; ``weak``: its other facts; ``spelled``: its ids as they stand there."""

    ids: Mapping[int, _Fact]
    weak: set[_Fact]
    spelled: set[str]


def row_owners(sheet: Sheet, table: GradeTable, people: Mapping[str, Person], came: Iterable[str] = ()) -> RowOwners:
    """The owners of all rows of an export. ``people``: the class, by id. ``came``: numbers that came with the table's lessons."""
    rows = [*enumerate(sheet.rows)][table.first_row :]
    # In another assignment the learners have other numbers.
    numbers = {*table.assigned.values(), *came}
    search = _Search(people, {at: _row_of(at, cells, table) for at, cells in rows}, numbers)
    search.by_ids()
    search.exact_first()
    search.by_names()
    return search.owners


class _Search:
    """A search for the owners of rows. ``owners``: those that were found so far."""

    def __init__(self, people: Mapping[str, Person], rows: Mapping[int, _Row], numbers: Collection[str]) -> None:
        self.owners = RowOwners({learner: set() for learner in people})
        self._rows = rows
        self._facts = {learner: {*_facts_of(person, numbers)} for learner, person in people.items()}
        self._spelled = {learner: {one.email, one.lms_id, *one.ids} for learner, one in people.items()}
        self._learners: dict[_Fact, list[str]] = defaultdict(list)
        """Each fact, and the learners that it is true of."""
        for learner, facts in self._facts.items():
            for fact in facts:
                self._learners[fact].append(learner)
        self._shared = {one for one, its in self._learners.items() if one[0].endswith("number") and len(its) > 1}
        ids = list(chain.from_iterable(row.ids.items() for row in rows.values()))
        # A column that has no id of anybody here may hold ids that nobody here has told: they speak against nobody.
        self._known = {(column, fact[0]) for column, fact in ids if fact[0] != "id" or fact in self._learners}
        self._decisive = {fact[0] for _, fact in ids if fact in self._learners and fact[0].endswith("number")}

    def by_ids(self) -> None:
        """Find owners by the ids in the rows."""
        for at, row in self._rows.items():
            exact = [self._spelled_as(row, self._learners[fact]) for fact in row.ids.values() if fact in self._learners]
            if not exact:
                continue
            learners = set.intersection(*exact)
            # The LMS goes by a number, and the roster has this one for two people.
            if shared := self._shared.intersection(row.ids.values()):
                exact.append(self._learners_of(shared))
                learners = set()
            self._judge(at, learners)
            if not learners:
                self.owners.mixed[at] = set.union(*exact)

    def _spelled_as(self, row: _Row, learners: Collection[str]) -> set[str]:
        """Those of the learners who spell an id as the row does, or all if none does: AB1 and ab1 may be two people."""
        return {one for one in learners if self._spelled[one] & row.spelled} or {*learners}

    def exact_first(self) -> None:
        """Of several rows of a learner keep those with an id spelled alike, and of these the ones with the learner's name."""
        for learner, its in self.owners.rows.items():
            its &= {at for at in its if self._spelled[learner] & self._rows[at].spelled} or its
            # A family may have one address.
            its &= {at for at in its if self._facts[learner] & self._rows[at].weak} or its

    def by_names(self) -> None:
        """Find owners by name, for rows without a known id and learners without a row."""
        there = {learner for learner, its in self.owners.rows.items() if its}
        for at, row in self._rows.items():
            # Canvas has a row of its own for a test.
            if self._learners.keys().isdisjoint(row.ids.values()) and ("name", "student test") not in row.weak:
                self._judge(at, self._learners_of(row.weak) - there)

    def _learners_of(self, facts: Iterable[_Fact]) -> set[str]:
        """The learners that at least one of these facts is true of."""
        return set(chain.from_iterable(self._learners.get(fact, ()) for fact in facts))

    def _judge(self, at: int, learners: Collection[str]) -> None:
        """Note a row for each of these learners, as theirs or as doubted."""
        row = self._rows[at]
        said = {fact for column, fact in row.ids.items() if (column, fact[0]) in self._known} | row.weak
        # If only others have the name, a column of the export may have been sorted alone.
        called = self._learners_of(fact for fact in row.weak if fact[0] == "name")
        if learners and called and called.isdisjoint(learners):
            self.owners.mixed[at] = called | {*learners}
            return
        for learner in learners:
            if against := _against(self._facts[learner], said, self._decisive):
                self.owners.doubted.setdefault(learner, {})[at] = against
            else:
                self.owners.rows[learner].add(at)


def _row_of(at: int, cells: Sequence[str], table: GradeTable) -> _Row:
    """The facts in a row of the table."""
    # Some write #ada.
    texts = {column: cells[column].strip().removeprefix("#") for column in table.ids}
    ids = {column: _id_in(text, column, table) for column, text in texts.items() if text}
    if number := table.assigned.get(at):
        ids[_ASSIGNED] = ("participant number", number)
    return _Row(ids, {*_weak_facts(cells, table)}, {*filter(None, texts.values())})


def _facts_of(person: Person, numbers: Collection[str]) -> Iterator[_Fact]:
    """All facts about a person. ``numbers``: those in the table's assignment."""
    for text in filter(None, (*person.ids, person.email, person.lms_id)):
        number = text.removeprefix("number ")
        if text.startswith("number participant "):
            if number in numbers:
                yield "participant number", number
        elif number and number != text and "number " not in number:
            yield "number", plain(number)
        elif "@" in text:
            yield "address", plain(text)
        else:
            yield "id", plain(text)
            yield "any", plain(text)
    if person.lms_id:
        yield "number", plain(person.lms_id)
    yield from _name_facts(person.first_name, person.last_name, person.name)


def _id_in(cell: str, column: int, table: GradeTable) -> _Fact:
    """The fact in a cell of a column of identifiers."""
    if column in table.numbers:
        return "number", plain(cell)
    kind = "address" if "@" in cell else "id"
    return kind, plain(cell)


def _weak_facts(row: Sequence[str], table: GradeTable) -> Iterator[_Fact]:
    """The other facts in a row: the name, and its number, which may be the name of a learner's folder."""
    for column in table.numbers:
        yield "any", plain(row[column])
    *_, first, last = ("", "", *(row[column] for column in table.names))
    if not first:
        last, _, first = last.partition(",")
    yield from _name_facts(first, last, f"{first} {last}")


def _name_facts(first: str, last: str, name: str) -> Iterator[_Fact]:
    """The facts in a name of several words; one word says too little."""
    words = bare_words(name)
    if len(words) > 1:
        yield "name", " ".join(words)
        if first.strip() and last.strip():
            yield "order", f"{bare_words(first)} {bare_words(last)}"


def _against(mine: set[_Fact], theirs: set[_Fact], decisive: Collection[str]) -> list[str]:
    """The kinds of facts that differ, if they weigh more than those that are the same, or one is ``decisive``; else none."""
    both = {kind for kind, _ in mine} & {kind for kind, _ in theirs}
    if "order" in both:
        both.discard("name")
    same = {kind for kind, _ in mine & theirs} & both
    other = both - same - {"any"}
    weighs_more = sum(map(_WEIGHTS.__getitem__, other)) > sum(map(_WEIGHTS.__getitem__, same))
    return sorted(other) if weighs_more or not other.isdisjoint(decisive) else []
