"""The roster that is kept: ``roster.csv`` in the course's folder, a table that people can read and change.

Whoever comes in another table is the same person if an id is the same: a learner's id, an address, a number of matriculation.
A name makes nobody the same; whoever bears somebody else's is named, and a person says so.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.files import replace_file
from nbproof_lms.csv_table import quoted
from nbproof_lms.members import SEPARATOR, Member, Roster, read_names
from nbproof_lms.names import plain

__all__ = ["ROSTER", "Enrolment", "enrol", "is_class_known", "joined", "kept_roster", "members_of", "strike_off"]

ROSTER = "roster.csv"
_COLUMNS = ("learner", "name", "email", "also")


def kept_roster(root: Path) -> Roster | None:
    """The roster that is kept, which names whom it knows and leaves others alone. Raises UsageError if it is broken."""
    path = root / ROSTER
    if not path.is_file() or not path.read_bytes().partition(b"\n")[2].strip():
        return None
    return replace(read_names(path), strict=False)


def members_of(root: Path) -> tuple[Member, ...]:
    """Everybody on the roster that is kept. Raises UsageError if it is broken."""
    roster = kept_roster(root)
    return roster.members if roster is not None else ()


def is_class_known(root: Path) -> bool:
    """Whether a real class has left anything here: then no class is made up."""
    return (root / ROSTER).exists() or any(root.glob("collected/*/list.json"))


@dataclass(frozen=True)
class Enrolment:
    """What becomes of a roster when people are put on it."""

    members: tuple[Member, ...]
    """Everybody, afterwards."""
    ids: dict[str, str]
    """The ids of those who came, and theirs on the roster."""
    before: dict[str, Member]
    """Who was on the roster."""
    merged: tuple[str, ...]
    """Who was on the roster, and is somebody else there."""
    notes: tuple[str, ...]
    """A sentence on each who gets another name, and on each two who may be one person, with the command that makes them one."""

    @property
    def added(self) -> tuple[str, ...]:
        """Who is new."""
        return tuple(member.learner for member in self.members if member.learner not in self.before)

    @property
    def changed(self) -> tuple[str, ...]:
        """Of whom something else is known than before."""
        return tuple(member.learner for member in self.members if self.before.get(member.learner, member) != member)


def enrolled(kept: Sequence[Member], came: Sequence[Member], by_hand: bool = False) -> Enrolment:
    """The roster with those who came. ``by_hand``: a person said that the other names are the learner's, ids of others too."""
    before = {member.learner: member for member in kept}
    merged = {name for one in came for name in one.also if by_hand and name in before and name != one.learner}
    there = {name: member for name, member in before.items() if name not in merged}
    claimed = {plain(member.learner) for member in came}
    ids: dict[str, str] = {}
    doubles: dict[tuple[str, str], None] = {}
    renamed: dict[str, None] = {}
    for one in came:
        one = _absorbing(one, [before[name] for name in one.also if name in merged])
        alike = [name for name in there if name in before and one.ids & before[name].ids]
        learner = _on_the_roster(one, there, alike, claimed)
        ids[one.learner] = learner
        doubles |= dict.fromkeys((other, learner) for other in alike if other != learner)
        known = there.get(learner)
        if not by_hand:
            renamed |= dict.fromkeys(_other_name_of(known, one))
        there[learner] = one if known is None else _together(known, _renamed(one, learner))
    doubles |= dict.fromkeys(_namesakes(there, before))
    notes = (*renamed, *(_may_be_one(*two, there) for two in doubles))
    return Enrolment(tuple(there.values()), ids, before, tuple(merged), notes)


def _absorbing(one: Member, others: Sequence[Member]) -> Member:
    """A learner with the names of others on the roster, who are the same person."""
    for other in others:
        one = _together(one, replace(other, also=(other.learner, *other.also)))
    return one


def _on_the_roster(one: Member, there: Collection[str], alike: Sequence[str], claimed: Collection[str]) -> str:
    """The id on the roster of somebody who came: that of the one with whom an id is shared, unless it is somebody else's."""
    if one.learner not in there and len(alike) == 1 and plain(alike[0]) not in claimed:
        return alike[0]
    return one.learner


def _may_be_one(there: str, came: str, members: dict[str, Member]) -> str:
    name = members[came].name or members[there].name
    command = course_command(f"roster add {shlex.quote(there)} --also {shlex.quote(came)}")
    return f"{there} and {came} may be one person ({name}). If they are: {command}"


def _other_name_of(known: Member | None, one: Member) -> Iterable[str]:
    """What to say where somebody on the roster gets another name."""
    if known is not None and known.name and one.name and _words(known.name) != _words(one.name):
        yield f"{known.learner} was {known.name}, and is {one.name} now: an id of theirs is the same. Are they one person?"


def _renamed(member: Member, learner: str) -> Member:
    """A member who is called otherwise on the roster."""
    if learner == member.learner:
        return member
    own = f"id {member.learner}" if member.learner.isdecimal() else member.learner
    return replace(member, also=(own, *member.also))


def _together(one: Member, other: Member) -> Member:
    """One member with the names of both; where the two say something else, what came last counts."""
    name, email = other.name or one.name, other.email or one.email
    known = {plain(text) for text in (one.learner, name, email)}
    # An address that is no longer the one to write to is a name of theirs still.
    also = dict.fromkeys((*one.also, *other.also, *([one.email] if one.email else [])))
    return replace(one, name=name, email=email, also=tuple(text for text in also if plain(text) not in known))


def _namesakes(there: dict[str, Member], before: dict[str, Member]) -> Iterable[tuple[str, str]]:
    """Who is new under the name of somebody who was there before."""
    named: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, member in before.items():
        if name in there:
            named[_words(member.name)].append(name)
    for learner in sorted(there.keys() - before.keys()):
        if words := _words(there[learner].name):
            yield from ((name, learner) for name in named.get(words, ()))


def _words(name: str) -> tuple[str, ...]:
    """A name in whatever order: ``Doe, Jane`` is ``Jane Doe``."""
    return tuple(sorted(plain(name).replace(",", " ").split()))


def enrol(root: Path, members: Sequence[Member], by_hand: bool = False) -> Enrolment:
    """Put learners on the roster, or what is new of them. ``by_hand``: as for ``enrolled``. Raises UsageError."""
    done = enrolled(members_of(root), members, by_hand)
    _write(root, done.members)
    return done


def joined(kept: Roster | None, came: Roster) -> Roster:
    """The roster that is kept with a table that came: names that neither knows are nobody's."""
    if kept is None:
        return came
    done = enrolled(kept.members, came.members)
    return Roster(done.members, (*came.notes, *done.notes))


def strike_off(root: Path, learners: Collection[str]) -> None:
    """Take learners off the roster. Raises UsageError."""
    before = members_of(root)
    left = [member for member in before if member.learner not in learners]
    if len(left) < len(before):
        _write(root, left)


def _write(root: Path, members: Sequence[Member]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in members:
        also = f" {SEPARATOR} ".join(part.replace(SEPARATOR, " ") for part in one.also)
        writer.writerow([quoted(cell) for cell in (one.learner, one.name, one.email, also)])
    path = root / ROSTER
    data = text.getvalue().encode("utf-8", "backslashreplace")
    try:
        if not path.is_file() or path.read_bytes() != data:
            replace_file(path, data)
    except OSError as error:
        then = "free some space, or let your user write there"
        raise UsageError(f"the roster cannot be written: {error.strerror}", str(path.absolute()), then) from None
