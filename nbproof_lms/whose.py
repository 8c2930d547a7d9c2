"""Whose each file of an upload is: the layout of the whole upload, decided once, then the roster, or a person.

At one depth, the same for all of it, stand the names that an LMS gave, or those of learners as people arrange folders. What lies
in a learner's own folder or archive says nothing of whose it is, or when it came. What is not clear is listed, never guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from nbproof_lms.members import Roster
from nbproof_lms.names import bare, is_nobody, plain, why_no_learner, without_copy_marks
from nbproof_lms.system import LmsEntry, System

__all__ = ["HIDDEN", "FilePlace", "Upload", "Whose", "lesson_named", "owners"]

HIDDEN = "the LMS hides whose it is (anonymous grading)"
_SAY = "say so with --names"
_DEEPEST = 8

Parts = tuple[str, ...]


@dataclass(frozen=True)
class FilePlace:
    """One file as it lies in an upload."""

    parts: Parts
    lesson: str = ""
    """The lesson that its content is of."""
    counted: bool = True
    """Whether it has a place in the layout: no file that a system made, and nothing whose name leads out of the upload."""


@dataclass(frozen=True)
class Whose:
    """The learner of a file; without one, ``why`` says why."""

    learner: str = ""
    why: str = ""
    entry: LmsEntry | None = None
    """What the LMS says of it."""
    system: str = ""
    file: str = ""
    """What the learner called it."""
    made: bool = False
    """The LMS made it, and no learner."""


@dataclass(frozen=True)
class Upload:
    """All that is known of one upload before anything is decided."""

    name: str
    places: Sequence[FilePlace]
    lessons: Sequence[str]
    systems: Sequence[System]
    """Who may have made it."""
    archives: Collection[Parts] = ()
    """Those of the files that are folders here, because they were unpacked."""
    roster: Roster | None = None
    known: Sequence[str] = ()
    """Who handed in before."""
    accounts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(LMS, learner) -> the lasting number, as earlier uploads said."""

    @property
    def strict(self) -> bool:
        """Whether a name that is not on the roster is nobody's."""
        return self.roster is not None and self.roster.strict

    @cached_property
    def people(self) -> dict[str, str]:
        """Plain name -> learner, of everybody who is known."""
        listed = () if self.roster is None else self.roster.learners
        return {plain(name): name for name in (*listed, *self.known)}

    def who(self, name: str) -> frozenset[str]:
        """The learners of the class that a name may mean."""
        found = self.roster.who(name) if self.roster is not None else frozenset()
        known = self.people.get(plain(name))
        return found or (frozenset({known}) if known else frozenset())


def owners(upload: Upload) -> list[Whose]:
    """The owner of each file, in the order of the files."""
    counted = [place.parts for place in upload.places if place.counted]
    folders = {parts[:at] for parts in counted for at in range(1, len(parts))}
    # An archive that was unpacked counts by what is in it; the upload's own is no folder of it at all.
    counted = [parts for parts in counted if parts in folders or parts not in upload.archives]
    layout = (
        _LmsLayout.found(upload, counted, folders) or _LmsLayout.alone(upload) or _Folders(upload, counted, folders)
    )
    return [layout.owner(place) for place in upload.places]


def lesson_named(name: str, lessons: Iterable[str]) -> str:
    """The lesson that a folder's or file's name is, apart from letter case and signs."""
    asked = bare(without_copy_marks(name))
    return next((lesson for lesson in lessons if bare(lesson) == asked), "")


def _listed(names: Collection[str]) -> str:
    shown = sorted(names)
    return " or ".join(shown[:3]) + (f" or {len(shown) - 3} more" if len(shown) > 3 else "")


class _Names:
    """Whom a name means in this upload: a learner of the class, or a new one whose id it is as it stands."""

    def __init__(self, upload: Upload, names: Iterable[str]) -> None:
        self._upload, self._people = upload, upload.people
        self._alike: dict[str, set[str]] = defaultdict(set)
        self._spelled: dict[str, str] = {}
        for name in (*self._people.values(), *names):
            self._alike[bare(name)].add(plain(name))
            self._spelled.setdefault(plain(name), unicodedata.normalize("NFC", name))

    def owner(self, name: str, entry: LmsEntry | None = None, system: str = "") -> Whose:
        """Whose it is, or why that cannot be told."""
        upload = self._upload
        if name != name.strip():
            return Whose(why=f"to some systems the folder {name!r} is the same as {name.strip()!r}")
        number = entry.account if entry is not None else ""
        if upload.roster is not None and (found := upload.roster.who(name, number, system)):
            return Whose(min(found)) if len(found) == 1 else Whose(why=f"it may belong to {_listed(found)}")
        if entry is not None and entry.hidden:
            return Whose(why=HIDDEN)
        if upload.strict:
            told = f" and no number {number}" if number else ""
            return Whose(why=f"the table of names has no learner {name!r}{told}")
        if len(self._alike[bare(name)]) > 1:
            return Whose(why=f"it may belong to {_listed(self._alike[bare(name)])}")
        learner = self._people.get(plain(name)) or self._spelled.get(plain(name), name)
        if why := why_no_learner(learner):
            return Whose(why=f"{learner[:60]!r} cannot be the name of a learner's folder: {why}")
        return Whose(learner)

    def unless_around(self, owner: Whose, around: str) -> Whose:
        """The owner, unless what lies around all of it bears the name of another: that one may have packed it."""
        upload = self._upload
        others = upload.who(around) or upload.who(without_copy_marks(upload.name))
        if around and not others and not upload.strict:
            others = frozenset({around})
        if not owner.learner or not others or owner.learner in others:
            return owner
        called = around or upload.name
        return Whose(
            why=f"names within say {owner.learner!r}, what is around them {called!r}: if that is nobody, collect what is in it"
        )


class _LmsLayout:
    """An LMS's download: at one depth stand names that it gave."""

    def __init__(
        self, upload: Upload, system: System, depth: int, around: str, entries: Mapping[Parts, LmsEntry]
    ) -> None:
        self._upload, self._system, self._depth, self._entries = upload, system, depth, entries
        whole = _read_upload(upload)
        self._around = around or (whole[1].name if whole is not None else "")
        self._names = _Names(upload, [entry.name for entry in entries.values()])
        self._numbers: dict[tuple[Parts, str], set[str]] = defaultdict(set)
        for head, entry in entries.items():
            if entry.account:
                self._numbers[self._where(head), plain(entry.name)].add(entry.account)
        for (name, learner), number in upload.accounts.items():
            if name == system.name and system.lasting_numbers:
                self._numbers[(), plain(learner)].add(number)

    @classmethod
    def found(cls, upload: Upload, paths: Sequence[Parts], folders: Collection[Parts]) -> _LmsLayout | None:
        """The LMS as whose names most can be read, at the first depth at which any can."""
        around = ""
        for depth in range(_DEEPEST):
            heads = list(dict.fromkeys(parts[: depth + 1] for parts in paths if len(parts) > depth))
            system, entries = _best(upload, heads, folders)
            others = [head for head in heads if head not in entries and not is_nobody(head[-1], upload.lessons)]
            if entries:
                return cls(upload, system, depth, around, entries) if len(entries) >= len(others) else None
            inner = [head for head in heads if head in folders and head not in upload.archives]
            if len(others) > 1 or not inner:
                return None
            if others:
                around = around or others[0][-1]
            paths = [parts for parts in paths if parts[: depth + 1] not in upload.archives]
        return None

    @classmethod
    def alone(cls, upload: Upload) -> _LmsLayout | None:
        """One learner's archive by itself, as an LMS calls it."""
        whole = _read_upload(upload)
        return None if whole is None else cls(upload, whole[0], -1, "", {(): whole[1]})

    def _where(self, head: Parts) -> Parts:
        """Where a number means something: everywhere, or in one download."""
        return () if self._system.lasting_numbers else (*head[:-1], "")

    def owner(self, place: FilePlace) -> Whose:
        head = place.parts[: self._depth + 1]
        below = (head,) if len(place.parts) > len(head) else ()
        entry = self._entries.get(head) or _read(self._system, [head], below, self._upload.lessons).get(head)
        if entry is None and place.parts[self._depth :] in self._system.own_files:
            return Whose(made=True)
        if entry is None:
            why = f"it is not called as {self._system.name} calls what it hands over, and all around it is"
            return Whose(why=why, file=place.parts[-1])
        owner = self._names.owner(entry.name, entry, self._system.name)
        numbers = self._numbers[self._where(head), plain(entry.name)]
        roster = self._upload.roster
        told_apart = roster is not None and roster.who("", entry.account, self._system.name)
        if owner.learner and len(numbers) > 1 and not told_apart:
            owner = Whose(why=f"{len(numbers)} learners are called {entry.name!r} ({_listed(numbers)})")
        owner = self._names.unless_around(owner, self._around)
        file = place.parts[-1] if len(place.parts) > len(head) or not entry.file else entry.file
        return Whose(owner.learner, owner.why, entry, self._system.name, file)


def _read_upload(upload: Upload) -> tuple[System, LmsEntry] | None:
    """What the upload's own name says, if an LMS gave it: with a number or a time, for people write the rest as well."""
    found = ((one, one.read(upload.name, True)) for one in upload.systems)
    return next(((one, entry) for one, entry in found if entry and (entry.account or entry.when)), None)


def _best(upload: Upload, heads: Sequence[Parts], folders: Collection[Parts]) -> tuple[System, dict[Parts, LmsEntry]]:
    """The system that reads most of these names; of several the one whose names begin them: what follows is the learner's."""
    readings = [(one, _read(one, heads, folders, upload.lessons)) for one in upload.systems]
    return max(readings, key=lambda reading: (len(reading[1]), -sum(len(entry.name) for entry in reading[1].values())))


def _read(
    system: System, heads: Iterable[Parts], folders: Collection[Parts], lessons: Sequence[str]
) -> dict[Parts, LmsEntry]:
    """What a system reads of these names; a lesson, or a word that is nobody's, is no learner's name."""
    found = {head: system.read(head[-1], head in folders) for head in heads}
    return {head: entry for head, entry in found.items() if entry and not is_nobody(_no_number(entry), lessons)}


def _no_number(entry: LmsEntry) -> str:
    """The name alone; one that was hidden is made of a word that is nobody's and a number."""
    return "hidden" if entry.hidden or entry.name.endswith(entry.account or "\0") else entry.name


class _Folders:
    """As people arrange them: a folder, an archive or a file for each learner, in folders of lessons or of nobody's name."""

    def __init__(self, upload: Upload, paths: Sequence[Parts], folders: Collection[Parts]) -> None:
        self._upload, self._folders = upload, folders
        self._depth = self._depth_of(paths)
        self._heads = {parts[: self._depth + 1] for parts in paths}
        self._groups: dict[tuple[Parts, str], set[str]] = defaultdict(set)
        beside: dict[str, set[str]] = defaultdict(set)
        for place in upload.places:
            head, below = place.parts[: self._depth + 1], place.parts[self._depth + 1 : -1]
            if place.lesson and below and head not in upload.archives:
                self._groups[head, place.lesson].add(without_copy_marks(below[0]))
            if place.lesson and (name := self._name(head)[0]):
                beside[place.lesson].add(plain(name))
        self._sure = set(upload.people).union(*(names for names in beside.values() if len(names) > 1))
        self._names = _Names(upload, [name for head in self._heads if (name := self._name(head)[0])])

    def _depth_of(self, paths: Sequence[Parts]) -> int:
        """The first depth at which anything may be called like a learner; with a table of all learners, like one of them."""
        depth = 0
        for depth in range(_DEEPEST):
            heads = {parts[: depth + 1] for parts in paths if len(parts) > depth}
            inner = [head for head in heads if head in self._folders and head not in self._upload.archives]
            if len(inner) < len(heads) or any(self._may_be_a_learner(head[-1]) for head in heads):
                break
        return depth

    def _may_be_a_learner(self, name: str) -> bool:
        if self._upload.strict:
            return bool(self._upload.who(name))
        return not is_nobody(name, self._upload.lessons)

    def _name(self, head: Parts) -> tuple[str, bool]:
        """The learner whom it is called by, and whether that is sure where nothing else is called so."""
        is_folder = head in self._folders and head not in self._upload.archives
        if len(head) <= self._depth:
            return "", False
        name, beside = learner_in(head[-1], self._upload.lessons, is_folder)
        return name, beside or is_folder

    def owner(self, place: FilePlace) -> Whose:
        head = place.parts[: self._depth + 1]
        name, sure = self._name(head)
        owner = Whose(why="neither a folder nor the file's name says whose it is")
        if name and (sure or plain(name) in self._sure or self._upload.who(name)):
            owner = self._names.owner(name)
        others = self._groups[head, place.lesson] if len(self._groups[head, place.lesson]) > 1 else set()
        others = others | {part for part in place.parts[len(head) : -1] if self._upload.who(part)}
        if owner.learner and others and not self._upload.who(name):
            owner = Whose(why=f"which is the learner, {name!r} or {min(others)!r}? {_SAY}")
        whole = self._upload.who(without_copy_marks(self._upload.name))
        if not name and len(whole) == 1:
            owner = Whose(min(whole))
        owner = self._names.unless_around(owner, "")
        return Whose(owner.learner, owner.why, file=place.parts[-1])


def learner_in(name: str, lessons: Iterable[str], is_folder: bool) -> tuple[str, bool]:
    """The learner that a name holds, and whether a lesson's stands beside it: ``02_sorting_jane.ipynb``."""
    stem = name if is_folder else without_copy_marks(name)
    for lesson in sorted(lessons, key=len, reverse=True):
        loose = r"[\W_]*".join(re.escape(part) for part in re.split(r"[\W_]+", lesson) if part)
        if found := re.search(rf"(?<![^\W_]){loose}(?![^\W_])", stem, re.IGNORECASE):
            parts = (without_copy_marks(part).strip(" _-–—.+") for part in (stem[: found.start()], stem[found.end() :]))
            return next((part for part in parts if not is_nobody(part, lessons)), ""), True
    return ("", False) if is_nobody(stem, lessons) or stem.startswith(".") else (stem, False)
