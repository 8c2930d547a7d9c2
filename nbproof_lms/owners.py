"""Which learner each file of an upload is from: three rules, each for all of it, at one depth. Other files are listed.

1. Around everything may lie folders that have the name of the upload, of a lesson, or a word of ``_AROUND``.
2. If one LMS, and no other, can have given the names of all entries that hold an answer, it says who handed in each of them.
   With a roster its number, or else its name, has to be one learner's there; without one, everybody that it names is a learner.
3. Otherwise a folder with notebooks is from the learner on the roster with the folder's name. Without a roster each folder is a
   learner's.

A learner chooses the name of a file: it counts only if a person has put that whole name into the roster. Nothing in an entry
names anybody, and an upload of one learner alone may have come by mail, under any name.
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

__all__ = ["ALONE", "Owner", "Parts", "Upload", "find_fetched_owners", "find_owners"]

_DEEPEST = 8
_AROUND = {"submissions", "submitted", "downloads"}
_ENDING = re.compile(r"(?:\.(?:ipynb|zip|tar|tgz|gz|json|txt))*$", re.IGNORECASE)
ALONE = (
    "all would be one person's, and may have come by mail, under any name: --learner says who handed it in; if it is a class's, "
    "collect the folder that holds the learners' entries"
)
_NOBODYS = (
    "no folder says who handed it in: put it into one that is called as the learner, or its whole name into a column of "
    "--names, or --learner says it"
)

Parts = tuple[str, ...]


@dataclass(frozen=True)
class Owner:
    """The learner of a file. If none is known, ``why`` says why.

    ``entry``: what the LMS says of it. ``file``: the learner's name for it. ``status``: one of STATUSES, if it is no learner's.
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

    ``places``: the path of each file in it, and the lesson that its content belongs to; without what a system made, and without
    files with a name that leads out of the upload. ``systems``: the LMSs that may have made it. ``archives``: those of the files
    that are folders here, because they were unpacked. ``known``: the learners who handed in before. ``numbers``: the learners
    with each number, as earlier uploads said. ``lesson``: the lesson that a person has named for all of it.
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
        """Its name, without the ending of an archive, and without a browser's number of a copy."""
        return re.sub(r" ?\(\d+\)$", "", _ENDING.sub("", self.name))

    @cached_property
    def counted(self) -> list[Parts]:
        """The paths of all files in it, without the upload itself, if that is an archive."""
        own = {(self.name,)} & set(self.archives)
        return [parts for parts, _ in self.places if parts not in own]

    @cached_property
    def folders(self) -> set[Parts]:
        """The folders that people, or an LMS, made: no archives."""
        found: set[Parts] = set()
        for parts in self.counted:
            found.update(parts[:at] for at in range(1, len(parts)))
        return found - set(self.archives)

    @cached_property
    def works(self) -> set[Parts]:
        """The paths of notebooks and other answers, which show who handed in the upload; all paths if there are none."""
        # An LMS may put a file beside the entries that lists the names that learners gave to theirs.
        made = re.compile("|".join(system.own_files.pattern for system in self.systems))
        answers = {parts for parts, lesson in self.places if lesson and not made.fullmatch(parts[-1])}
        notebooks = {parts for parts in self.counted if ".ipynb" in parts[-1]}
        found = (answers & set(self.counted) | notebooks) - set(self.archives)
        return {parts for parts in found if ".ipynb_checkpoints" not in parts} or set(self.counted)

    @cached_property
    def depth(self) -> int:
        """The number of folders around everything: the names of learners stand below these."""
        for depth in range(_DEEPEST):
            heads = {parts[: depth + 1] for parts in self.works}
            if not heads <= self.folders or not self.is_around({head[-1] for head in heads}):
                return depth
        return _DEEPEST

    def is_around(self, names: set[str]) -> bool:
        """Whether these names, of all folders at one depth, are no learners'."""
        if any(self.learners_named(name) for name in names):
            return False
        is_whole = len(names) == 1 and (names <= {self.stem} or {name.casefold() for name in names} <= _AROUND)
        lessons = {bare(lesson) for lesson in self.lessons}
        return is_whole or {bare(name) for name in names} <= lessons

    @cached_property
    def entries(self) -> dict[Parts, list[tuple[str, str]]]:
        """The entries at that depth, and the lesson and the kind of file of each answer in them."""
        found: dict[Parts, list[tuple[str, str]]]
        found = {parts[: self.depth + 1]: [] for parts in self.counted if parts[self.depth :]}
        for parts, lesson in self.places:
            if lesson and parts in self.works:
                found[parts[: self.depth + 1]].append((lesson, _kind(parts[-1])))
        return found

    def learners_named(self, name: str) -> frozenset[str]:
        """The learners with exactly this name, on the roster or, without one, among those who handed in before."""
        return frozenset(self._called[plain(name)]) if self.roster is None else self.roster.named(name)

    @cached_property
    def _called(self) -> Mapping[str, Sequence[str]]:
        return grouped((plain(one), one) for one in self.known)

    def new_learners(self, names: Mapping[Parts, str]) -> dict[Parts, Owner]:
        """The owners with these names if there is no roster: each is a learner, unless two names are nearly the same."""
        spelled = grouped({(bare(name), unicodedata.normalize("NFC", name)) for name in (*names.values(), *self.known)})
        found = {}
        for head, name in names.items():
            learner = unicodedata.normalize("NFC", name)
            alike = spelled[bare(name)]
            if why := why_no_learner(learner):
                found[head] = Owner(why=f"{learner[:60]!r} cannot be the name of a learner's folder: {why}")
            elif len(alike) > 1:
                found[head] = Owner(why=f"it may belong to {_listed(alike)}")
            else:
                found[head] = Owner(learner)
        return found


def _kind(name: str) -> str:
    return ".ipynb" if ".ipynb" in name else name.rpartition(".")[2]


def find_owners(upload: Upload) -> dict[Parts, Owner]:
    """The owner of each file of an upload, by the file's path there."""
    heads = {parts[: upload.depth + 1] for parts in upload.works}
    systems = _systems_of(upload, heads)
    if why := _why_nobodys(upload, systems):
        return {parts: Owner(why=why, file=parts[-1]) for parts, _ in upload.places}
    if systems:
        system = systems[0]
        found = _Numbered(upload, system).find()
    else:
        system = System()
        found = _arranged(upload, heads)
    return {parts: _owner(parts, upload.depth, found, system) for parts, _ in upload.places}


def _systems_of(upload: Upload, heads: set[Parts]) -> list[System]:
    """The systems that can have given the names of all these entries."""
    names = [head[-1] for head in heads]
    return [system for system in upload.systems if all(map(system.read, names))]


def _why_nobodys(upload: Upload, systems: Sequence[System]) -> str:
    """A sentence if no rule may be applied to the upload; else empty. ``systems``: those that can have given its names."""
    if upload.learners_named(upload.stem) or any(system.read(upload.name) for system in upload.systems):
        return f"{upload.name!r} is called as one person's own: --learner says who handed it in"
    if len(systems) > 1:
        names = " and ".join(system.name for system in systems)
        return f"{names} may each have given the names here, and say different things by them"
    return ""


def find_fetched_owners(upload: Upload, fetched: Mapping[str, Fetched], system: str) -> dict[Parts, Owner]:
    """The owner of each file of an upload, by the file's path there, if a ``system`` has fetched the files.

    ``fetched``: what the system says of each hand-in, by the first part of its files' paths.
    """
    names: dict[Parts, str] = {(head,): one.who for head, one in fetched.items()}
    roster = upload.roster
    if roster is None:
        found = upload.new_learners(names)
    else:
        found = {head: _one_of(roster.named(who) or roster.numbered(who), who) for head, who in names.items()}
    entries = {head: LmsEntry(one.who, when=one.when, late=one.late) for head, one in fetched.items()}
    owners = {head: replace(one, entry=entries[head[0]], system=system) for head, one in found.items()}
    return {parts: replace(owners[parts[:1]], file=parts[-1]) for parts, _ in upload.places}


def _one_of(found: Collection[str], name: str) -> Owner:
    """The owner if one learner on the roster was found by this name; else why nobody is known."""
    if len(found) == 1:
        return Owner(min(found))
    if found:
        return Owner(why=f"it may belong to {_listed(found)}")
    return Owner(why=f"the roster has no learner {name!r}")


def _owner(parts: Parts, depth: int, found: Mapping[Parts, Owner], system: System) -> Owner:
    """The owner of one file. ``found``: of each entry; ``system``: the LMS that may have put files beside the entries."""
    if system.own_files.fullmatch("/".join(parts[depth:])):
        return Owner(status="junk")
    one = found.get(parts[: depth + 1], Owner(why=_NOBODYS))
    if one.entry is not None and one.entry.file and len(parts) == depth + 1:
        return replace(one, file=one.entry.file)
    return replace(one, file=parts[-1])


class _Numbered:
    """Rule 2: an LMS has given the names, and a number to each learner."""

    def __init__(self, upload: Upload, system: System) -> None:
        self._upload = upload
        self._system = system
        read = ((head, system.read(head[-1])) for head in upload.entries)
        self._entries = {head: entry for head, entry in read if entry is not None}
        self._sure: set[Parts] = set()
        """The entries with a number that the roster has."""

    def find(self) -> dict[Parts, Owner]:
        """The owner of each entry."""
        if self._upload.roster is None:
            found = self._upload.new_learners({head: entry.name for head, entry in self._entries.items()})
        else:
            found = {head: self._on(self._upload.roster, head) for head in self._entries}
        numbers = {self._entries[head].account or one.learner for head, one in found.items() if one.learner}
        if len(numbers) == 1:
            return {head: replace(one, learner="", why=one.why or ALONE) for head, one in found.items()}
        for doubts in (self._unsure, self._anothers, self._twice):
            found |= {head: Owner(why=why) for head, why in doubts(found) if found[head].learner}
        system = self._system.name
        return {head: replace(one, entry=self._entries[head], system=system) for head, one in found.items()}

    def _on(self, roster: Roster, head: Parts) -> Owner:
        """The learner on the roster with the entry's number, or else with its name."""
        entry = self._entries[head]
        by_number = roster.numbered(self._system.on_roster(entry.account))
        by_name = roster.called(entry.name)
        found = by_number & by_name or by_number | by_name
        if not found and entry.name == self._system.test_student:
            return Owner(status="test student")
        if len(found) != 1:
            return _one_of(found, entry.name)
        (learner,) = found
        if by_number:
            self._sure.add(head)
        elif self._system.lasting_numbers and learner in roster.with_number and self._system.roster_number:
            return Owner(why=f"the roster has another number of {learner!r} than {self._system.name}'s {entry.account}")
        return Owner(learner)

    def _unsure(self, found: Mapping[Parts, Owner]) -> Iterator[tuple[Parts, str]]:
        """Entries with a name that can be read in another way, and a sentence on each."""
        roster = self._upload.roster or Roster()
        # If the roster has everybody's number, what is nobody's is no number.
        has_all = bool(roster.members) and roster.with_number >= {*roster.learners}
        for head, entry in self._entries.items():
            numbers = [one for one in entry.others if not has_all or roster.numbered(self._system.on_roster(one))]
            if numbers:
                told = " or ".join((entry.account, *numbers))
                yield head, f"{self._system.name}'s number may be {told}: --names with everybody's number may tell"
            if entry.unsure:
                yield head, entry.unsure

    @cached_property
    def _before(self) -> Mapping[str, set[tuple[str, str]]]:
        """Lesson -> learners with their numbers, as earlier uploads said. A name of a learner counts as the learner's id."""
        found = defaultdict[str, set[tuple[str, str]]](set)
        for (system, lesson), said in self._upload.numbers.items():
            if system == self._system.name:
                found[lesson] = {(self._id_of(learner), number) for learner, number in said}
        return found

    def _id_of(self, name: str) -> str:
        """The id of the one learner with this name; else the name."""
        who = self._upload.learners_named(name)
        return min(who) if len(who) == 1 else name

    def _known(self, head: Parts) -> set[tuple[str, str]]:
        """Learners with their numbers, as earlier uploads said, for the lessons of this entry."""
        asked = self._upload.lesson
        lessons = {asked} if asked else {lesson for lesson, _ in self._upload.entries[head]}
        return set().union(*(self._before[lesson] for lesson in {"", *lessons}))

    def _anothers(self, found: Mapping[Parts, Owner]) -> Iterator[tuple[Parts, str]]:
        """Entries with a number that was another learner's before, and a sentence on each."""
        for head in found.keys() - self._sure:
            number = self._entries[head].account
            learner = found[head].learner
            if others := {who for who, known in self._known(head) if number and known == number} - {learner}:
                told = f"{self._system.name}'s {number} was {_listed(others)} before"
                yield head, f"{told}, and is called {learner!r} here"

    def _twice(self, found: Mapping[Parts, Owner]) -> Iterator[tuple[Parts, str]]:
        """Entries of a learner with two numbers, here or before, or of a number with two learners, and a sentence on each."""
        named = ((head, one.learner) for head, one in found.items() if one.learner)
        here = grouped((self._scope(head), (learner, self._entries[head].account)) for head, learner in named)
        for head in found.keys() - self._sure:
            learner = found[head].learner
            number = self._entries[head].account
            said = {*here[self._scope(head)], *self._known(head)}
            # An LMS that does not number its learners says that two are one person by nothing but a name.
            same = [(who, one) for who, one in said if who == learner or (number and one == number)]
            told = [f"{who} with number {one}" for who, one in same]
            if len(told) > 1:
                yield head, f"two people may be {learner!r}: {_listed(told)}"

    def _scope(self, head: Parts) -> Parts:
        """The folder in which the number of an entry means one learner: one download, or everything."""
        return () if self._system.lasting_numbers else head[:-1]


def _arranged(upload: Upload, heads: set[Parts]) -> dict[Parts, Owner]:
    """Rule 3: people have given the names."""
    found = {head: _named(upload, head) for head in upload.entries}
    if upload.roster is None:
        found |= upload.new_learners({head: head[-1] for head in heads if not found[head].why})
    if len({one.learner for one in found.values()} - {""}) == 1:
        return {head: Owner(why=one.why or ALONE) for head, one in found.items()}
    spelled = grouped({(one.learner, plain(head[-1])) for head, one in found.items()})
    for head, one in found.items():
        names = spelled[one.learner]
        if one.learner and len(names) > 1:
            found[head] = Owner(why=f"two folders may be of {one.learner!r}: {_listed(names)}")
    return found


def _named(upload: Upload, head: Parts) -> Owner:
    """The owner that a name means on the roster. Without a roster: an owner without a learner, and why, if it is nobody's."""
    name = head[-1]
    if system := next((one.name for one in upload.systems if one.read(name)), ""):
        return Owner(
            why=f"it is called as {system} calls what it hands over: collect what is not, beside it, by itself"
        )
    if upload.roster is not None:
        found = upload.learners_named(name)
        is_named = bool(found) and name.endswith(".ipynb")
        if head not in upload.folders and not is_named:
            return Owner(why=_NOBODYS)
        if not found and len(upload.entries) == 1:
            alone = "if it holds the learners' folders, collect that folder by itself"
            return Owner(why=f"the roster has no learner {name!r}; {alone}")
        return _one_of(found, name)
    if head not in upload.folders:
        return Owner(why=_NOBODYS)
    answers = upload.entries[head]
    if upload.is_around({name}) or len(set(answers)) < len(answers):
        return Owner(why=f"{name!r} may hold what is several learners'")
    return Owner()


def _listed(names: Collection[str]) -> str:
    shown = sorted(names)
    if len(shown) > 3:
        shown[3:] = [f"{len(shown) - 3} more"]
    return " or ".join(shown)
