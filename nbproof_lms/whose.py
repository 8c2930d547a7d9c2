"""Whose each file of an upload is: the layout of the whole upload, decided once, then the roster, or a person.

At one depth, the same for all of it, stand the names that an LMS gave, or those of learners as people arrange folders. What lies
in a learner's own folder or archive says nothing of whose it is, or when it came. What is not clear is listed, never guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from nbproof_lms.members import Roster
from nbproof_lms.names import bare, is_nobody, plain, why_no_learner, without_copy_marks
from nbproof_lms.system import LmsEntry, System

__all__ = ["HIDDEN", "FilePlace", "Parts", "Upload", "Whose", "lesson_named", "owners"]

HIDDEN = "the LMS hides whose it is (anonymous grading)"
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
    named: Parts = ()
    """The entry of the download that it lies in, if nothing but a name says whose that is."""


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


@dataclass(frozen=True)
class _Layout:
    """The depth at which names of learners stand, and what stands there: by the path down to it."""

    depth: int
    entries: Mapping[Parts, LmsEntry]
    system: System | None = None
    """The LMS that gave the names; None if people arranged the files."""
    around: str = ""
    """A name that lies around all of an LMS's download, and may be that of whoever packed it."""


def owners(upload: Upload) -> list[Whose]:
    """The owner of each file, in the order of the files."""
    counted = [place.parts for place in upload.places if place.counted]
    folders = {parts[:at] for parts in counted for at in range(1, len(parts))}
    # An archive that was unpacked counts by what is in it; the upload's own is no folder of it at all.
    paths = [parts for parts in counted if parts in folders or parts not in upload.archives]
    layout = _lms_layout(upload, paths, folders) or _alone(upload) or _arranged(upload, paths, folders)
    names = _Names(upload, layout)
    return [names.owner(place) for place in upload.places]


def lesson_named(name: str, lessons: Iterable[str]) -> str:
    """The lesson that a folder's or file's name is, apart from letter case and signs."""
    asked = bare(without_copy_marks(name))
    return next((lesson for lesson in lessons if bare(lesson) == asked), "")


def _heads(paths: Iterable[Parts], depth: int) -> list[Parts]:
    """The beginnings of these paths, down to this depth."""
    return list(dict.fromkeys(parts[: depth + 1] for parts in paths if len(parts) > depth))


def _lms_layout(upload: Upload, paths: Sequence[Parts], folders: Collection[Parts]) -> _Layout | None:
    """The LMS as whose names most can be read, at the first depth at which any can."""
    whole = _alone(upload)
    around = whole.entries[()].name if whole is not None else ""
    for depth in range(_DEEPEST):
        heads = _heads(paths, depth)
        system, entries = _best(upload, heads, folders)
        rest = [head[-1] for head in heads if head not in entries and not system.own_files.fullmatch(head[-1])]
        others = [name for name in rest if not is_nobody(name, upload.lessons)]
        if entries:
            all_heads = _heads((place.parts for place in upload.places), depth)
            layout = _Layout(depth, _read(system, all_heads, folders, upload.lessons), system, around)
            return layout if len(entries) >= len(others) else None
        if len(others) > 1 or not set(heads) & set(folders) - set(upload.archives):
            return None
        around = around or "".join(others)
        paths = [parts for parts in paths if parts[: depth + 1] not in upload.archives]
    return None


def _alone(upload: Upload) -> _Layout | None:
    """One learner's archive by itself, as an LMS calls it: with a number or a time, for people write the rest as well."""
    for system in upload.systems:
        entry = system.read(upload.name, True)
        if entry and (entry.account or entry.when):
            return _Layout(-1, {(): entry}, system)
    return None


def _best(upload: Upload, heads: Sequence[Parts], folders: Collection[Parts]) -> tuple[System, dict[Parts, LmsEntry]]:
    """The system that reads most of these names; of several the one whose names begin them: what follows is the learner's."""
    readings = [(one, _read(one, heads, folders, upload.lessons)) for one in upload.systems]
    return max(readings, key=lambda reading: (len(reading[1]), -sum(len(entry.name) for entry in reading[1].values())))


def _read(
    system: System, heads: Iterable[Parts], folders: Collection[Parts], lessons: Sequence[str]
) -> dict[Parts, LmsEntry]:
    """What a system reads of these names; a lesson, or a word that is nobody's, is no learner's name."""
    found = {head: system.read(head[-1], head in folders) for head in heads}
    return {head: entry for head, entry in found.items() if entry and not _is_nobodys(entry, lessons)}


def _is_nobodys(entry: LmsEntry, lessons: Sequence[str]) -> bool:
    """One that was hidden is made of a word that is nobody's and a number, and stands for somebody."""
    is_hidden = entry.hidden or bool(entry.account and entry.name.endswith(entry.account))
    return not is_hidden and is_nobody(entry.name, lessons)


def _arranged(upload: Upload, paths: Sequence[Parts], folders: Collection[Parts]) -> _Layout:
    """As people arrange them: a folder, an archive or a file for each learner, in folders of lessons or of nobody's name."""
    is_folder = set(folders) - set(upload.archives)
    depth = _depth_of(upload, paths, is_folder)
    heads = _heads((place.parts for place in upload.places), depth)
    named = {head: learner_in(head[-1], upload.lessons, head in is_folder) for head in heads}
    sure = set(upload.people) | _beside(upload, depth, {head: name for head, (name, _) in named.items()})
    entries = {}
    for head, (name, with_lesson) in named.items():
        if name and (with_lesson or head in is_folder or plain(name) in sure or upload.who(name)):
            entries[head] = LmsEntry(name)
    return _Layout(depth, entries)


def _beside(upload: Upload, depth: int, names: Mapping[Parts, str]) -> set[str]:
    """Names, in plain form, that stand beside another one's, with work of the same lesson: such a one is a name."""
    found: dict[str, set[str]] = defaultdict(set)
    for place in upload.places:
        if place.lesson and (name := names.get(place.parts[: depth + 1])):
            found[place.lesson].add(plain(name))
    return {name for beside in found.values() for name in beside if len(beside) > 1}


def _depth_of(upload: Upload, paths: Sequence[Parts], is_folder: set[Parts]) -> int:
    """The first depth at which anything may be called like a learner; with a table of all learners, like one of them."""
    for depth in range(_DEEPEST):
        heads = _heads(paths, depth)
        may_be = (upload.who(head[-1]) if upload.strict else not is_nobody(head[-1], upload.lessons) for head in heads)
        if not is_folder.issuperset(heads) or any(may_be):
            return depth
    return _DEEPEST


class _Names:
    """Whom the names of a layout mean: a learner of the class, or a new one whose id the name is as it stands."""

    def __init__(self, upload: Upload, layout: _Layout) -> None:
        self._upload, self._layout = upload, layout
        self._system = layout.system.name if layout.system is not None else ""
        self._lasting = layout.system is not None and layout.system.lasting_numbers
        self._alike: dict[str, set[str]] = defaultdict(set)
        self._called: dict[str, dict[Parts, LmsEntry]] = defaultdict(dict)
        for head, entry in layout.entries.items():
            if entry.unsure:
                continue
            self._called[plain(entry.name)][head] = entry
        for name in (*upload.people, *self._called):
            self._alike[bare(name)].add(name)
        self._groups: dict[tuple[Parts, str], set[str]] = defaultdict(set)
        for place in upload.places:
            head, below = place.parts[: layout.depth + 1], place.parts[layout.depth + 1 : -1]
            if place.lesson and below and head not in upload.archives:
                self._groups[head, place.lesson].add(without_copy_marks(below[0]))

    def owner(self, place: FilePlace) -> Whose:
        """Whose a file is, or why that cannot be told."""
        head = place.parts[: self._layout.depth + 1]
        entry = self._layout.entries.get(head)
        if entry is None:
            return self._unnamed(place)
        found = self._meant(entry)
        if learner := found.learner:
            why = self._several(head, entry, learner) or self._group(place, entry) or self._around(learner)
            found = Whose(why=why) if why else found
        file = entry.file if entry.file and place.parts == head else place.parts[-1]
        named = head if self._system and entry.only_a_name else ()
        told = entry if self._system and not entry.unsure else None
        return replace(found, entry=told, system=self._system, file=file, named=named)

    def _unnamed(self, place: FilePlace) -> Whose:
        """The owner of what is not called as the rest of its upload is."""
        file, system = place.parts[-1], self._layout.system
        if system is None:
            whole = self._upload.who(without_copy_marks(self._upload.name))
            if len(whole) == 1:
                return Whose(min(whole), file=file)
            return Whose(why="neither a folder nor the file's name says whose it is", file=file)
        if system.own_files.fullmatch("/".join(place.parts[self._layout.depth :])):
            return Whose(made=True)
        return Whose(why=f"it is not called as {system.name} calls what it hands over, and all around it is", file=file)

    def _unfit(self, entry: LmsEntry) -> str:
        """Why a name can mean nobody, in words; empty if it can."""
        name = entry.name
        if entry.unsure:
            return f"{self._system} may have put {name!r} there, or a longer name: who wrote the rest of it?"
        return f"to some systems the folder {name!r} is the same as {name.strip()!r}" if name != name.strip() else ""

    def _meant(self, entry: LmsEntry) -> Whose:
        """Whom a name means, and the LMS's number with it."""
        upload, name = self._upload, entry.name
        if why := self._unfit(entry):
            return Whose(why=why)
        found: Collection[str] = ()
        if upload.roster is not None:
            found = upload.roster.who(name, entry.account, self._system)
        if not found and entry.hidden:
            return Whose(why=HIDDEN)
        if not found and upload.strict:
            return Whose(why=f"the table of names has no learner {name!r}")
        found = found or self._alike[bare(name)]
        if len(found) > 1:
            return Whose(why=f"it may belong to {_listed(found)}")
        if (learner := min(found)) in upload.people.values():
            return Whose(learner)
        first = next(iter(self._called[plain(name)].values()))
        learner = upload.people.get(learner, unicodedata.normalize("NFC", first.name))
        why = why_no_learner(learner)
        return Whose(why=f"{learner[:60]!r} cannot be the name of a learner's folder: {why}") if why else Whose(learner)

    def _several(self, head: Parts, entry: LmsEntry, learner: str) -> str:
        """Whether an LMS has several learners of this name, whom the roster does not tell apart: in words, or empty.

        A number means something everywhere, or in one download.
        """
        called = self._called[plain(entry.name)].items()
        numbers = {other.account for at, other in called if self._lasting or at[:-1] == head[:-1]}
        numbers |= {self._upload.accounts.get((self._system, learner), "")} if self._lasting else set()
        roster = self._upload.roster
        numbers -= {""}
        if len(numbers) < 2 or (roster is not None and roster.who("", entry.account, self._system)):
            return ""
        return f"{len(numbers)} learners are called {entry.name!r} ({_listed(numbers)})"

    def _group(self, place: FilePlace, entry: LmsEntry) -> str:
        """Whether folders in a folder that is not known as a learner's may be those of learners: in words, or empty."""
        upload, depth = self._upload, self._layout.depth
        if self._system or upload.who(entry.name):
            return ""
        group = self._groups[place.parts[: depth + 1], place.lesson]
        others = {part for part in place.parts[depth + 1 : -1] if upload.who(part)}
        others |= group if len(group) > 1 else set()
        return f"which is the learner, {entry.name!r} or {min(others)!r}? say so with --names" if others else ""

    def _around(self, learner: str) -> str:
        """Whether what lies around all of it bears the name of another, who may have packed it: in words, or empty."""
        upload, around = self._upload, self._layout.around
        others = upload.who(around) or upload.who(without_copy_marks(upload.name))
        if around and not others and not upload.strict:
            others = frozenset({around})
        if not others or learner in others:
            return ""
        called = around or upload.name
        return f"names within say {learner!r}, what is around them {called!r}: if that is nobody, collect what is in it"


def _listed(names: Collection[str]) -> str:
    shown = sorted(names)
    return " or ".join(shown[:3]) + (f" or {len(shown) - 3} more" if len(shown) > 3 else "")


def learner_in(name: str, lessons: Iterable[str], is_folder: bool) -> tuple[str, bool]:
    """The learner that a name holds, and whether a lesson's stands beside it: ``02_sorting_jane.ipynb``."""
    stem = name if is_folder else without_copy_marks(name)
    for lesson in sorted(lessons, key=len, reverse=True):
        loose = r"[\W_]*".join(re.escape(part) for part in re.split(r"[\W_]+", lesson) if part)
        if found := re.search(rf"(?<![^\W_]){loose}(?![^\W_])", stem, re.IGNORECASE):
            parts = (without_copy_marks(part).strip(" _-–—.+") for part in (stem[: found.start()], stem[found.end() :]))
            return next((part for part in parts if not is_nobody(part, lessons)), ""), True
    return ("", False) if is_nobody(stem, lessons) or stem.startswith(".") else (stem, False)
