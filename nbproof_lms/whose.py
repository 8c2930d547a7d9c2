"""Which learner each file of an upload is from: three rules, each for all of it, at one depth. Other files are listed.

1. Around everything may lie folders that are called as the upload is, as a lesson, or by a word of ``_AROUND``.
2. If one LMS, and no other, can have given the names of all entries that hold an answer, it says who handed in each of them.
   With a roster its number, else its name, has to be one learner's there; without one, everybody that it names is a learner.
3. Else, where folders hold notebooks, a folder is the learner's on the roster who is called so. Without a roster each is one.

A learner chooses the name of a file: it counts only as a person has put it, whole, into the roster. Nothing in an entry names
anybody, and an upload of one learner alone may have come by mail, under any name.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from nbproof.grouping import grouped
from nbproof_lms.names import bare, plain, why_no_learner
from nbproof_lms.roster import Roster
from nbproof_lms.system import Fetched, LmsEntry, Numbers, System

__all__ = ["Parts", "Upload", "Whose", "owners", "owners_by_system"]

_DEEPEST = 8
_AROUND = {"submissions", "submitted", "downloads"}
_ENDING = re.compile(r"(?:\.(?:ipynb|zip|tar|tgz|gz|json|txt))*$", re.IGNORECASE)
_ALONE = (
    "all would be one person's, and may have come by mail, under any name: --learner says who handed it in; if it is a class's, "
    "collect the folder that holds the learners' entries"
)
_NOBODYS = (
    "no folder says who handed it in: put it into one that is called as the learner, or its whole name into a column of "
    "--names, or --learner says it"
)

Parts = tuple[str, ...]


@dataclass(frozen=True)
class Whose:
    """The learner of a file; without one, ``why`` says why.

    ``entry``: what the LMS says of it. ``file``: what the learner called it. ``status``: as in STATUSES, of what is no learner's.
    """

    learner: str = ""
    why: str = ""
    entry: LmsEntry | None = None
    system: str = ""
    file: str = ""
    status: str = ""


@dataclass(frozen=True)
class Upload:
    """All that is known of one upload before anything is decided.

    ``places``: where each file lies in it, and the lesson that its content belongs to; without what a system made, and without
    files with a name that leads out of the upload. ``systems``: the LMSs that may have made it. ``archives``: those of the files
    that are folders here, because they were unpacked. ``known``: who handed in before. ``numbers``: who has each number, as
    earlier uploads said. ``lesson``: what all of it was handed in for, as a person said.
    """

    name: str
    places: Sequence[tuple[Parts, str]]
    lessons: Sequence[str]
    systems: Sequence[System]
    archives: Collection[Parts] = ()
    roster: Roster | None = None
    known: Sequence[str] = ()
    numbers: Numbers = field(default_factory=dict)
    lesson: str = ""

    @property
    def stem(self) -> str:
        """Its name, without what an archive's ends with, and a browser's number of a copy."""
        return re.sub(r" ?\(\d+\)$", "", _ENDING.sub("", self.name))

    @cached_property
    def counted(self) -> list[Parts]:
        """All places in the layout, but the upload itself, where it is an archive."""
        own = {(self.name,)} & set(self.archives)
        return [parts for parts, _ in self.places if parts not in own]

    @cached_property
    def folders(self) -> set[Parts]:
        """Those that people, or an LMS, made: no archives."""
        return {parts[:at] for parts in self.counted for at in range(1, len(parts))} - set(self.archives)

    @cached_property
    def works(self) -> set[Parts]:
        """Where notebooks and other answers lie: these show who handed in the upload. Everything, if there are none."""
        # An LMS may put a file beside the entries that tells of what learners called theirs.
        made = re.compile("|".join(system.own_files.pattern for system in self.systems))
        told = {parts for parts, lesson in self.places if lesson and not made.fullmatch(parts[-1])}
        notebooks = {parts for parts in self.counted if ".ipynb" in parts[-1]}
        found = (told & set(self.counted) | notebooks) - set(self.archives)
        return {parts for parts in found if ".ipynb_checkpoints" not in parts} or set(self.counted)

    @cached_property
    def depth(self) -> int:
        """At how many folders, around everything, the names of learners stand."""
        for depth in range(_DEEPEST):
            heads = {parts[: depth + 1] for parts in self.works}
            if not heads <= self.folders or not self.is_around({head[-1] for head in heads}):
                return depth
        return _DEEPEST

    def is_around(self, names: set[str]) -> bool:
        """Whether these names, of all folders at one depth, are no learners'."""
        if any(self.who(name) for name in names):
            return False
        is_whole = len(names) == 1 and (names <= {self.stem} or {name.casefold() for name in names} <= _AROUND)
        lessons = {bare(lesson) for lesson in self.lessons}
        return is_whole or {bare(name) for name in names} <= lessons

    @cached_property
    def entries(self) -> dict[Parts, list[tuple[str, str]]]:
        """What stands at that depth; of each answer in it the lesson, and what kind of file it is."""
        found: dict[Parts, list[tuple[str, str]]]
        found = {parts[: self.depth + 1]: [] for parts in self.counted if parts[self.depth :]}
        for parts, lesson in self.places:
            if lesson and parts in self.works:
                found[parts[: self.depth + 1]].append((lesson, _kind(parts[-1])))
        return found

    def who(self, name: str) -> frozenset[str]:
        """The learners, of the roster or by what came before, who are called exactly so."""
        if self.roster is not None:
            return self.roster.named(name)
        return frozenset(self._called[plain(name)])

    @cached_property
    def _called(self) -> Mapping[str, Sequence[str]]:
        return grouped((plain(one), one) for one in self.known)

    def new(self, names: Mapping[Parts, str]) -> dict[Parts, Whose]:
        """The learners of these names where there is no roster: each is one, unless two are nearly the same."""
        spelled = grouped({(bare(name), unicodedata.normalize("NFC", name)) for name in (*names.values(), *self.known)})
        found = {}
        for head, name in names.items():
            learner, alike = unicodedata.normalize("NFC", name), spelled[bare(name)]
            if why := why_no_learner(learner):
                found[head] = Whose(why=f"{learner[:60]!r} cannot be the name of a learner's folder: {why}")
            elif len(alike) > 1:
                found[head] = Whose(why=f"it may belong to {_listed(alike)}")
            else:
                found[head] = Whose(learner)
        return found


def _kind(name: str) -> str:
    return ".ipynb" if ".ipynb" in name else name.rpartition(".")[2]


def owners(upload: Upload) -> dict[Parts, Whose]:
    """The owner of each file, by its place."""
    heads = {parts[: upload.depth + 1] for parts in upload.works}
    systems = [system for system in upload.systems if all(system.read(head[-1]) for head in heads)]
    why = ""
    if upload.who(upload.stem) or any(system.read(upload.name) for system in upload.systems):
        why = f"{upload.name!r} is called as one person's own: --learner says who handed it in"
    elif len(systems) > 1:
        told = " and ".join(system.name for system in systems)
        why = f"{told} may each have given the names here, and say different things by them"
    if why:
        return {parts: Whose(why=why, file=parts[-1]) for parts, _ in upload.places}
    system = systems[0] if systems else System()
    found = _Numbered(upload, system).found() if systems else _arranged(upload, heads)
    return {parts: _owner(parts, upload.depth, found, system) for parts, _ in upload.places}


def owners_by_system(upload: Upload, fetched: Mapping[str, Fetched], system: str) -> dict[Parts, Whose]:
    """The same where a system has fetched the files, and says whose each is. ``fetched``: by the first part of their places."""
    names: dict[Parts, str] = {(head,): one.who for head, one in fetched.items()}
    roster = upload.roster
    found = upload.new(names) if roster is None else {head: _on_roster(who, roster) for head, who in names.items()}
    entries = {head: LmsEntry(one.who, when=one.when, late=one.late) for head, one in fetched.items()}
    told = {head: replace(one, entry=entries[head[0]], system=system) for head, one in found.items()}
    return {parts: replace(told[parts[:1]], file=parts[-1]) for parts, _ in upload.places}


def _on_roster(who: str, roster: Roster) -> Whose:
    known = roster.named(who) or roster.numbered(who)
    if len(known) == 1:
        return Whose(min(known))
    return Whose(why=f"it may belong to {_listed(known)}" if known else f"the roster has no learner {who!r}")


def _owner(parts: Parts, depth: int, found: Mapping[Parts, Whose], system: System) -> Whose:
    """``system``: who may have put something beside the entries."""
    if system.own_files.fullmatch("/".join(parts[depth:])):
        return Whose(status="junk")
    one = found.get(parts[: depth + 1], Whose(why=_NOBODYS))
    if one.entry is not None and one.entry.file and len(parts) == depth + 1:
        return replace(one, file=one.entry.file)
    return replace(one, file=parts[-1])


class _Numbered:
    """Rule 2: an LMS has given the names, and a number to each learner."""

    def __init__(self, upload: Upload, system: System) -> None:
        self._upload, self._system = upload, system
        read = ((head, system.read(head[-1])) for head in upload.entries)
        self._entries = {head: entry for head, entry in read if entry is not None}
        self._sure: set[Parts] = set()
        """The entries with a number that the roster has."""

    def found(self) -> dict[Parts, Whose]:
        """Who handed in each entry, or why nobody is known."""
        if self._upload.roster is None:
            found = self._upload.new({head: entry.name for head, entry in self._entries.items()})
        else:
            found = {head: self._on(self._upload.roster, head) for head in self._entries}
        numbers = {self._entries[head].account or one.learner for head, one in found.items() if one.learner}
        if len(numbers) == 1:
            return {head: replace(one, learner="", why=one.why or _ALONE) for head, one in found.items()}
        for doubts in (self._unsure, self._anothers, self._twice):
            found |= {head: Whose(why=why) for head, why in doubts(found) if found[head].learner}
        system = self._system.name
        return {head: replace(one, entry=self._entries[head], system=system) for head, one in found.items()}

    def _on(self, roster: Roster, head: Parts) -> Whose:
        """Who on the roster has the number, or else the name."""
        entry = self._entries[head]
        by_number, by_name = roster.numbered(self._system.on_roster(entry.account)), roster.called(entry.name)
        found = by_number & by_name or by_number | by_name
        if not found and entry.name == self._system.test_student:
            return Whose(status="test student")
        if not found:
            return Whose(why=f"the roster has no learner {entry.name!r}")
        if len(found) > 1:
            return Whose(why=f"it may belong to {_listed(found)}")
        (learner,) = found
        if by_number:
            self._sure.add(head)
        elif self._system.lasting_numbers and learner in roster.with_number and self._system.roster_number:
            return Whose(why=f"the roster has another number of {learner!r} than {self._system.name}'s {entry.account}")
        return Whose(learner)

    def _unsure(self, found: Mapping[Parts, Whose]) -> Iterator[tuple[Parts, str]]:
        """Names that can be read in another way."""
        roster = self._upload.roster or Roster()
        # Where the roster has everybody's number, what is nobody's is no number.
        is_told = bool(roster.members) and roster.with_number >= {*roster.learners}
        for head, entry in self._entries.items():
            numbers = [one for one in entry.others if not is_told or roster.numbered(self._system.on_roster(one))]
            if numbers:
                told = " or ".join((entry.account, *numbers))
                yield head, f"{self._system.name}'s number may be {told}: --names with everybody's number may tell"
            if entry.unsure:
                yield head, entry.unsure

    @cached_property
    def _before(self) -> Mapping[str, set[tuple[str, str]]]:
        """By lesson: learner and number, as earlier uploads said. Who was filed under a name of theirs is the same person."""
        found = defaultdict[str, set[tuple[str, str]]](set)
        for (system, lesson), said in self._upload.numbers.items():
            for learner, number in said if system == self._system.name else ():
                who = self._upload.who(learner)
                found[lesson].add((min(who) if len(who) == 1 else learner, number))
        return found

    def _known(self, head: Parts) -> set[tuple[str, str]]:
        """What was said before, for the lessons of this entry."""
        asked = self._upload.lesson
        lessons = {asked} if asked else {lesson for lesson, _ in self._upload.entries[head]}
        return set().union(*(self._before[lesson] for lesson in {"", *lessons}))

    def _anothers(self, found: Mapping[Parts, Whose]) -> Iterator[tuple[Parts, str]]:
        """Numbers that were another learner's before."""
        for head in found.keys() - self._sure:
            number, learner = self._entries[head].account, found[head].learner
            if others := {who for who, known in self._known(head) if known == number} - {learner}:
                told = f"{self._system.name}'s {number} was {_listed(others)} before"
                yield head, f"{told}, and is called {learner!r} here"

    def _twice(self, found: Mapping[Parts, Whose]) -> Iterator[tuple[Parts, str]]:
        """Learners with two numbers, here or before, and numbers of two learners."""
        # A number means something everywhere, or in one download.
        scopes = {head: () if self._system.lasting_numbers else head[:-1] for head in found}
        named = ((head, one.learner) for head, one in found.items() if one.learner)
        here = grouped((scopes[head], (learner, self._entries[head].account)) for head, learner in named)
        for head in found.keys() - self._sure:
            learner, number = found[head].learner, self._entries[head].account
            said = {*here[scopes[head]], *self._known(head)}
            told = [f"{who} with number {one}" for who, one in said if who == learner or one == number]
            if len(told) > 1:
                yield head, f"two people may be {learner!r}: {_listed(told)}"


def _arranged(upload: Upload, heads: set[Parts]) -> dict[Parts, Whose]:
    """Rule 3: people have given the names."""
    found = {head: _named(upload, head) for head in upload.entries}
    if upload.roster is None:
        found |= upload.new({head: head[-1] for head in heads if not found[head].why})
    if len({one.learner for one in found.values()} - {""}) == 1:
        return {head: Whose(why=one.why or _ALONE) for head, one in found.items()}
    spelled = grouped({(one.learner, plain(head[-1])) for head, one in found.items()})
    several = ((learner, _listed(names)) for learner, names in spelled.items() if learner and len(names) > 1)
    whys = {learner: f"two folders may be of {learner!r}: {names}" for learner, names in several}
    return {head: Whose(why=whys[one.learner]) if one.learner in whys else one for head, one in found.items()}


def _named(upload: Upload, head: Parts) -> Whose:
    """The learner that a name means on the roster, or why it means none. Without a roster: why it is nobody's, or nothing."""
    name = head[-1]
    if system := next((one.name for one in upload.systems if one.read(name)), ""):
        return Whose(
            why=f"it is called as {system} calls what it hands over: collect what is not, beside it, by itself"
        )
    if head not in upload.folders and not (upload.roster and name.endswith(".ipynb") and upload.who(name)):
        return Whose(why=_NOBODYS)
    if upload.roster is not None:
        found = upload.who(name)
        if len(found) == 1:
            return Whose(min(found))
        if found:
            return Whose(why=f"it may belong to {_listed(found)}")
        alone = "; if it holds the learners' folders, collect that folder by itself" * (len(upload.entries) == 1)
        return Whose(why=f"the roster has no learner {name!r}{alone}")
    answers = upload.entries[head]
    if upload.is_around({name}) or len(set(answers)) < len(answers):
        return Whose(why=f"{name!r} may hold what is several learners'")
    return Whose()


def _listed(names: Collection[str]) -> str:
    shown = sorted(names)
    return " or ".join(shown[:3]) + (f" or {len(shown) - 3} more" if len(shown) > 3 else "")
