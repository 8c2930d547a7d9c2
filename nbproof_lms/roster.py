"""The roster that is kept: ``roster.csv`` in the course's folder, a table that people can read and change.

Whoever comes in another table is the same person if an id is the same: a learner's id, an address, a number of matriculation.
A name makes nobody the same; whoever bears somebody else's is named, and a person says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbproof.csv_text import csv_of
from nbproof.errors import UsageError, disk_trouble
from nbproof.files import replace_file
from nbproof_lms.members import SEPARATOR, Member, Roster, read_names
from nbproof_lms.names import bare_words, plain

__all__ = ["ROSTER", "Enrolment", "enrol", "import_roster", "is_class_known", "kept_roster", "members_of", "strike_off"]

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
    roster = kept_roster(root)
    return roster.members if roster is not None else ()


def is_class_known(root: Path) -> bool:
    """Whether a real class has left anything here: then no class is made up."""
    return (root / ROSTER).exists() or any(root.glob("collected/*/list.json"))


@dataclass(frozen=True)
class Enrolment:
    """What became of those who were put on a roster.

    ``ids``: their id there, by the one that they came with; ``added``: who is new. ``notes``: on each who gets another name, and
    on each two who may be one person. ``changed``: column -> of how many of the
    others something else stands there now.
    """

    ids: dict[str, str]
    added: tuple[str, ...]
    notes: tuple[str, ...]
    changed: Mapping[str, int] = field(default_factory=dict)


def enrol(root: Path, came: Sequence[Member]) -> Enrolment:
    """Put learners on the roster, or what is new of them. Raises UsageError.

    Who shares an id with one of before is that one, unless that one came, too.
    """
    before = {member.learner: member for member in members_of(root)}
    there = dict(before)
    said = {name: (member.ids, bare_words(member.name)) for name, member in before.items()}
    claimed = {plain(member.learner) for member in came}
    ids: dict[str, str] = {}
    notes: dict[str, None] = {}
    for one in came:
        learner, words, own = one.learner, bare_words(one.name), one.ids
        alike = [name for name, (known_ids, _) in said.items() if not own.isdisjoint(known_ids) and name != learner]
        if learner not in there and len(alike) == 1 and plain(alike[0]) not in claimed:
            learner = alike.pop()
        if learner not in there and words:
            alike += [name for name, (_, known_words) in said.items() if known_words == words]
        ids[one.learner] = learner
        for other in alike:
            then = f"make one line of the two in {ROSTER}, {learner} in its column also"
            notes[f"{other} and {learner} may be one person. If they are: {then}"] = None
        known = there.get(learner)
        if known is not None and known.name and words and bare_words(known.name) != words:
            told = f"{learner} was {known.person.name}, and is {one.person.name} now: an id of theirs is the same"
            notes[f"{told}. Are they one person?"] = None
        there[learner] = one if known is None else _together(known, one)
    _write(root, tuple(there.values()))
    return Enrolment(ids, tuple(there.keys() - before.keys()), tuple(notes), _changed(before, there))


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
    own = f"id {other.learner}" if other.learner.isdecimal() else other.learner
    # An address that is no longer the one to write to is a name of theirs still.
    also = dict.fromkeys((own, *one.also, *other.also, one.email))
    found = tuple(text for text in also if plain(text.removeprefix("id ")) not in known)
    return replace(one, name=name, email=email, also=found)


def import_roster(root: Path, table: Path, option: str = "--names") -> Enrolment:
    """Put everybody of a table on the roster, which ``option`` has named. Raises UsageError."""
    came = read_names(table, option)
    done = enrol(root, came.members)
    return replace(done, notes=(*came.notes, *done.notes))


def strike_off(root: Path, learners: Collection[str]) -> None:
    """Take learners off the roster. Raises UsageError."""
    before = members_of(root)
    left = [member for member in before if member.learner not in learners]
    if len(left) < len(before):
        _write(root, left)


def _write(root: Path, members: Sequence[Member]) -> None:
    also = [f" {SEPARATOR} ".join(part.replace(SEPARATOR, " ") for part in one.also) for one in members]
    rows = [(one.learner, one.name, one.email, others) for one, others in zip(members, also, strict=True)]
    data = csv_of([_COLUMNS, *rows])
    path = (root / ROSTER).absolute()
    then = "move away what lies there, free some space, or let your user write there"
    with disk_trouble(UsageError, "the roster cannot be written", path, then):
        if not path.is_file() or path.read_bytes() != data:
            replace_file(path, data)
