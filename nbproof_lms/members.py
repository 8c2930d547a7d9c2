"""The class: its members, and the names and numbers that stand for each of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nbproof_lms.names import bare, plain

__all__ = ["AN_ID", "Member", "Roster", "roster_of"]

AN_ID = re.compile(r"id (\d+)", re.IGNORECASE)
_PARTICIPANT = re.compile(r"participant (\d+)", re.IGNORECASE)
_SHARED = 5
"""Names of several learners that are told one by one."""


@dataclass(frozen=True)
class Member:
    """A learner of the class, as ``roster.csv`` keeps them."""

    learner: str
    name: str = ""
    email: str = ""
    also: tuple[str, ...] = ()
    """What else stands for them: other spellings, other ids, and the number that an LMS gives them (digits alone; an id of
    digits, such as a number of matriculation, is written ``id 123``, Moodle's number in one assignment ``participant 123``)."""

    @property
    def names(self) -> Iterator[str]:
        """All that they are called."""
        yield from (self.learner, self.name, self.email, self.email.partition("@")[0])
        for one in self.also:
            if found := AN_ID.fullmatch(one):
                yield found[1]
            elif not one.isdecimal() and not _PARTICIPANT.fullmatch(one):
                yield one
                yield one.partition("@")[0]

    @property
    def turned(self) -> Iterator[str]:
        """The name with its last words in front, as LMSs sort people: Ada King Lovelace may be lovelaceadaking there."""
        words = self.name.replace(",", " ").split()
        yield from (" ".join((*words[at:], *words[:at])) for at in range(1, min(len(words), 5)))

    @property
    def numbers(self) -> Iterator[str]:
        """What LMSs call them: digits alone, or ``participant`` with digits."""
        yield from (plain(one) for one in self.also if one.isdecimal() or _PARTICIPANT.fullmatch(one))


@dataclass(frozen=True)
class Roster:
    """Names and numbers, and the learners that they stand for."""

    members: tuple[Member, ...] = ()
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Plain and bare forms of every name."""
    numbers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    strict: bool = True
    """Whether a name that is not in it is nobody's; else that name is read as if there were no roster."""

    @property
    def learners(self) -> tuple[str, ...]:
        """Their ids, in the order of the file."""
        return tuple(member.learner for member in self.members)

    def who(self, name: str, number: str = "", system: str = "") -> frozenset[str]:
        """The learners that a name, and the LMS's number with it, may mean. Several: it is not clear. None: nobody."""
        by_number = self.numbers.get(number, frozenset())
        if number.isdecimal() and system != "Canvas":
            # What Moodle itself calls a participant says more than another LMS's number that is equal.
            by_number = self.numbers.get(f"participant {int(number)}", by_number)
        by_name = self.names.get(plain(name)) or self.names.get(bare(name)) or frozenset()
        if by_number and by_name:
            # The number settles which of two that share a name; where the two contradict each other, nobody is chosen.
            return by_number & by_name or by_number | by_name
        return by_number or by_name


def roster_of(members: Sequence[Member], place: str, notes: Iterable[str] = ()) -> Roster:
    """The roster that these members are; ``place``: what it is called in notes."""
    names: dict[str, set[str]] = defaultdict(set)
    numbers: dict[str, set[str]] = defaultdict(set)
    turned: dict[str, set[str]] = defaultdict(set)
    for member in members:
        for name in member.names:
            names[plain(name)].add(member.learner)
            names[bare(name)].add(member.learner)
        for name in member.turned:
            turned[bare(name)].add(member.learner)
        for number in member.numbers:
            numbers[number].add(member.learner)
    for name, whose in turned.items():
        # Only where it is nobody's name as it stands: Anna Maria is not Maria Anna.
        names.setdefault(name, whose)
    for member in members:
        # A learner's own id is nobody else's.
        names[plain(member.learner)] = {member.learner}
    names.pop("", None)
    found = (*notes, *_shared(place, {**names, **numbers}))
    return Roster(tuple(members), _frozen(names), _frozen(numbers), found)


def _frozen(table: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(whose) for name, whose in table.items()}


def _shared(file: str, names: Mapping[str, set[str]]) -> Iterator[str]:
    """A sentence for each group of learners that names stand for together: of all its spellings the one to read."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for alias, whose in names.items():
        groups[tuple(sorted(whose))].append(alias)
    shared = {whose: aliases for whose, aliases in groups.items() if len(whose) > 1}
    several = sorted((max(aliases, key=lambda one: (" " in one, one)), whose) for whose, aliases in shared.items())
    for alias, learners in several[:_SHARED]:
        told = " and ".join(learners) if len(learners) < 4 else f"{len(learners)} learners"
        yield f"{file}: {alias!r} stands for {told}: a file that bears only this name is not taken"
    if len(several) > _SHARED:
        yield f"{file}: and {len(several) - _SHARED} more names that stand for several learners"
