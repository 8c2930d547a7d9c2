"""The roster that is kept: ``roster.csv`` in the course's folder, a table that people can read and change.

Whoever comes in another table is the same person if an id is the same: a learner's id, an address, a number of matriculation.
A name makes nobody the same; whoever bears somebody else's is named, and a person says so.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.files import replace_file
from nbproof_lms.csv_table import quoted
from nbproof_lms.members import AN_ID, Member, Roster, roster_of
from nbproof_lms.name_table import also_cell, read_names
from nbproof_lms.names import plain

__all__ = [
    "ROSTER",
    "Enrolment",
    "enrol",
    "is_class_known",
    "joined",
    "kept_roster",
    "members_of",
    "read_names",
    "strike_off",
]


ROSTER = "roster.csv"
_COLUMNS = ("learner", "name", "email", "also")


def kept_roster(root: Path) -> Roster | None:
    """The roster that is kept, which names whom it knows and leaves others alone. Raises UsageError if it is broken."""
    path = root / ROSTER
    if not path.is_file() or len(path.read_bytes().split(b"\n", 1)[-1].strip()) == 0:
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
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    """Who was on the roster, and is somebody else there."""
    doubles: tuple[tuple[str, str], ...] = ()
    """Two learners each who have a name or an id in common: who was there before, and who came or is known by what came."""

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on each two who may be one person, with the command that makes them one."""
        names = {member.learner: member.name for member in self.members}
        return tuple(
            f"{there} and {came} may be one person ({names[came] or names[there]}). If they are: "
            f"{course_command(f'roster add {shlex.quote(there)} --also {shlex.quote(came)}')}"
            for there, came in self.doubles
        )


def enrolled(kept: Sequence[Member], came: Sequence[Member], by_hand: bool = False) -> Enrolment:
    """The roster with those who came. ``by_hand``: a person said that the other names are the learner's, ids of others too."""
    there = {member.learner: member for member in kept}
    claimed = {plain(member.learner) for member in came}
    ids: dict[str, str] = {}
    added, changed, merged, doubles = [], [], [], []
    for one in came:
        others = [name for name in one.also if by_hand and name in there and name != one.learner]
        merged += others
        for other in others:
            gone = there.pop(other)
            one = _together(one, replace(gone, also=(other, *gone.also)))
        alike = [member.learner for member in kept if member.learner in there and _ids(one) & _ids(member)]
        learner = one.learner
        if learner not in there and len(alike) == 1 and plain(alike[0]) not in claimed:
            learner = alike[0]
        ids[one.learner] = learner
        doubles += [(other, learner) for other in alike if other != learner]
        before = there.get(learner)
        there[learner] = one if before is None else _together(before, _renamed(one, learner))
        if before is None:
            added.append(learner)
        elif there[learner] != before:
            changed.append(learner)
    asked = dict.fromkeys((*doubles, *_namesakes(there, kept, added)))
    return Enrolment(tuple(there.values()), ids, tuple(added), tuple(changed), tuple(merged), tuple(asked))


def _renamed(member: Member, learner: str) -> Member:
    """A member who is called otherwise on the roster."""
    if learner == member.learner:
        return member
    own = f"id {member.learner}" if member.learner.isdecimal() else member.learner
    return replace(member, also=(own, *member.also))


def _together(one: Member, other: Member) -> Member:
    """One member with the names of both; where the two say something else, what came last counts."""
    also = dict.fromkeys((*one.also, *other.also))
    if one.email and other.email and plain(one.email) != plain(other.email):
        also[one.email] = None
    known = {plain(text) for text in (one.learner, other.name or one.name, other.email or one.email)}
    left = tuple(name for name in also if plain(name) not in known)
    return replace(one, name=other.name or one.name, email=other.email or one.email, also=left)


def _ids(member: Member) -> set[str]:
    """What is one person's alone: id, address, numbers, and names with a digit in them, which no parents give."""
    ids = {plain(member.learner), plain(member.email)} - {""}
    for name in member.also:
        if found := AN_ID.fullmatch(name):
            ids.add(found[1])
        elif name.isdecimal():
            ids.add(f"number {name}")
        elif " " not in name and ("@" in name or any(sign.isdigit() for sign in name)):
            ids.add(plain(name))
    return ids


def _namesakes(there: dict[str, Member], kept: Sequence[Member], added: Sequence[str]) -> list[tuple[str, str]]:
    """Who was added under the name of somebody who was there before."""
    before: dict[tuple[str, ...], str] = {}
    for member in kept:
        if member.learner in there and member.name:
            before.setdefault(_words(member.name), member.learner)
    news = [(before.get(_words(there[learner].name)), learner) for learner in added if there[learner].name]
    return [(old, new) for old, new in news if old is not None]


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
    return roster_of(done.members, ROSTER, (*came.notes, *done.notes))


def strike_off(root: Path, learners: Iterable[str]) -> None:
    """Take learners off the roster. Raises UsageError."""
    gone = set(learners)
    before = members_of(root)
    if any(member.learner in gone for member in before):
        _write(root, [member for member in before if member.learner not in gone])


def _write(root: Path, members: Sequence[Member]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in members:
        writer.writerow([quoted(cell) for cell in (one.learner, one.name, one.email, also_cell(one))])
    path = root / ROSTER
    data = text.getvalue().encode("utf-8", "backslashreplace")
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        replace_file(path, data)
    except OSError as error:
        raise UsageError(
            f"the roster cannot be written: {error.strerror}",
            str(path.absolute()),
            "free some space, or let your user write there",
        ) from None
