"""Whose each file of an upload is: the layout of the whole upload, decided once, then the roster, or a person.

At one depth, the same for all of it, stand the names that an LMS gave, or those of learners as people arrange folders. What lies
in a learner's own folder or archive says nothing of whose it is, or when it came. An LMS names all of its download, and anybody
can write a name as it does: where two may have given the names, or one only some of them, such names are listed, never guessed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from nbproof_lms.members import Roster
from nbproof_lms.names import bare, is_nobody, plain, why_no_learner, without_copy_marks
from nbproof_lms.system import Account, LmsEntry, System

__all__ = ["HIDDEN", "FilePlace", "Parts", "Upload", "Whose", "lesson_named", "owners"]

HIDDEN = "the LMS hides whose it is (anonymous grading)"
_DEEPEST = 8
_ALONE = (
    "all would be one person's, and may have come by mail, under any name: --learner says whose it is; where it is a class's, "
    "collect what lies in the folder"
)

Parts = tuple[str, ...]
_Readings = dict[System, dict[Parts, LmsEntry]]


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
    """What it lies in, or itself, if nothing but a name says whose that is, and who handed it in may have given the name."""


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
    accounts: Collection[Account] = ()
    """Whose each number is, as earlier uploads said."""
    lesson: str = ""
    """What all of it was handed in for, as a person said."""

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
    layout = _alone(upload) or _lms_layout(upload, _works(upload, paths), folders) or _arranged(upload, paths, folders)
    names = _Names(upload, layout)
    return [names.owner(place) for place in upload.places]


def lesson_named(name: str, lessons: Iterable[str]) -> str:
    """The lesson that a folder's or file's name is, apart from letter case and signs."""
    asked = bare(without_copy_marks(name))
    return next((lesson for lesson in lessons if bare(lesson) == asked), "")


def _heads(paths: Iterable[Parts], depth: int) -> list[Parts]:
    """The beginnings of these paths, down to this depth."""
    return list(dict.fromkeys(parts[: depth + 1] for parts in paths if len(parts) > depth))


def _works(upload: Upload, paths: Sequence[Parts]) -> Sequence[Parts]:
    """The notebooks, and what else holds a lesson: these show whose download it is. Others may lie beside them."""
    works = [one.parts for one in upload.places if one.counted and (one.lesson or ".ipynb" in one.parts[-1])]
    return [parts for parts in works if not any(one.own_files.fullmatch(parts[-1]) for one in upload.systems)] or paths


def _lms_layout(upload: Upload, paths: Sequence[Parts], folders: Collection[Parts]) -> _Layout | None:
    """The LMS that can have given all names, at the first depth at which it can have given any; None if there is none."""
    around = ""
    for depth in range(_DEEPEST):
        heads = _heads(paths, depth)
        read = _readings(upload, heads, folders)
        if _is_somebodys(upload, read):
            return _download(upload, depth, read, heads, folders, around)
        others = [head[-1] for head in heads if upload.who(head[-1]) or not _is_around(upload, head[-1])]
        # Nothing but folders: what ends here, or is packed, is not called as what lies deeper is.
        if len(others) > 1 or not set(heads) <= set(folders) - set(upload.archives):
            return None
        around = around or "".join(others)
    return None


def _is_around(upload: Upload, name: str) -> bool:
    """Whether a folder's name is no learner's, or a system's for its download, which the upload bears as well."""
    is_its_own = without_copy_marks(upload.name) == without_copy_marks(name)
    return is_nobody(name, upload.lessons) or (is_its_own and _is_download(upload, name))


def _is_download(upload: Upload, name: str) -> bool:
    return any(system.own_name.fullmatch(without_copy_marks(name)) for system in upload.systems)


def _download(
    upload: Upload, depth: int, read: _Readings, heads: Sequence[Parts], folders: Collection[Parts], around: str
) -> _Layout | None:
    """The layout of the LMS that can have given all names; a person may have put one folder beside its download."""
    names = set[Parts]().union(*read.values())
    fit = [system for system in read if read[system].keys() == names]
    strays = {head for head in heads if head not in names and learner_in(head[-1], upload.lessons, head in folders)[0]}
    beside = len(strays) < 2 and strays <= set(folders) - set(upload.archives)
    # A folder in which none of these names stands may be a learner's own, as the others then.
    without = {head[:-1] for head in heads} - {head[:-1] for head in names}
    if not fit or not beside or any(one and not lesson_named(one[-1], upload.lessons) for one in without):
        return None
    all_heads = _heads((place.parts for place in upload.places), depth)
    return _given(upload, depth, _readings(replace(upload, systems=fit), all_heads, folders), around)


def _alone(upload: Upload) -> _Layout | None:
    """One learner's file or archive by itself, called as by an LMS with a number or a time: who sent it may write so, too."""
    read = _readings(upload, [(upload.name,)], [(upload.name,)])
    is_one = any(not entry.only_a_name for entries in read.values() for entry in entries.values())
    return _Layout(-1, {(): LmsEntry(upload.name, unsure=_ALONE)}) if is_one else None


def _is_somebodys(upload: Upload, read: _Readings) -> bool:
    """Whether any of these names may be a learner's."""
    return not all(_is_nobodys(entry, upload.lessons) for found in read.values() for entry in found.values())


def _given(upload: Upload, depth: int, fit: _Readings, around: str = "") -> _Layout:
    """The layout of the one system that can have given the names; where several can, each name is in doubt."""
    (system, entries), *others = fit.items()
    if not others:
        sure = {head: entry for head, entry in entries.items() if not _is_nobodys(entry, upload.lessons)}
        return _Layout(depth, sure, system, around)
    told = " and ".join(one.name for one in fit)
    why = f"{told} may each have given the names here, and say different things by them: a learner wrote one of them"
    return _Layout(depth, {head: replace(entry, unsure=why) for head, entry in entries.items()})


def _readings(upload: Upload, heads: Sequence[Parts], folders: Collection[Parts]) -> _Readings:
    """What each system reads of these names; where there is nothing but a name, one that somebody may bear."""
    read: _Readings = {system: {} for system in upload.systems}
    if len(heads) == 1 and _is_download(upload, heads[0][-1]):
        return read
    together = {around: {head[-1] for head in heads if head[:-1] == around} for around in {head[:-1] for head in heads}}
    starts = {key: _start(upload, key[0], together[key[1]]) for key in product(read, together)}
    for system, head in product(read, heads):
        entry = system.read(head[-1], head in folders, starts[system, head[:-1]])
        if entry and not (entry.only_a_name and _is_nobodys(entry, upload.lessons)):
            read[system][head] = entry
    return read


def _start(upload: Upload, system: System, parts: Collection[str]) -> str:
    """What the names of one download begin with: as much as all share, but no part of a name that somebody is known by."""
    starts = system.beginnings(parts)
    read = ((start, system.read(part, False, start)) for start, part in product(starts, parts))
    found = {start for start, entry in read if entry and upload.who(entry.name)} or starts[-1:]
    return "".join(found) if len(found) == 1 else ""


def _is_nobodys(entry: LmsEntry, lessons: Sequence[str]) -> bool:
    """Whoever has a number or a time is somebody, whatever they call themselves."""
    return entry.only_a_name and not entry.hidden and is_nobody(entry.name, lessons)


def _arranged(upload: Upload, paths: Sequence[Parts], folders: Collection[Parts]) -> _Layout:
    """As people arrange them: a folder, an archive or a file for each learner, in folders of lessons or of nobody's name."""
    is_folder = set(folders) - set(upload.archives)
    depth = _depth_of(upload, paths, is_folder)
    heads = _heads((place.parts for place in upload.places), depth)
    entries, doubts = _as_an_lms(upload, heads, folders)
    named = {head: _named(upload, head[-1], head in is_folder) for head in heads}
    sure = set(upload.people) | _beside(upload, depth, {head: name for head, (name, _) in named.items()})
    for head, (name, with_lesson) in named.items():
        is_sure = head not in entries and (with_lesson or plain(name) in sure)
        if name and (is_sure or head in is_folder or upload.who(name)):
            entries[head] = LmsEntry(name)
    return _Layout(depth, _had_by_all(upload, _heads(_works(upload, paths), depth), entries | doubts))


def _named(upload: Upload, name: str, is_folder: bool) -> tuple[str, bool]:
    """The learner that a name holds; what stands for somebody of the class is a name, whatever words it is made of."""
    stem = name if is_folder else without_copy_marks(name)
    return (stem, False) if upload.who(stem) else learner_in(name, upload.lessons, is_folder)


def _had_by_all(upload: Upload, heads: Sequence[Parts], entries: Mapping[Parts, LmsEntry]) -> Mapping[Parts, LmsEntry]:
    """The names, which are in doubt unless folders are sections or weeks: whoever made theirs may have written one in it."""
    folders = {
        head[:at] for head in heads for at in range(1, len(head)) if not lesson_named(head[at - 1], upload.lessons)
    }
    levels = [[one for one in folders if len(one) == at] for at in {len(one) for one in folders}]
    names = defaultdict[Parts, set[str]](set)
    for (head, entry), level in product(entries.items(), levels):
        # Of one folder any; of several only who is known: two notebooks of everybody's, part a and part b, would be learners.
        called = upload.who(entry.name) or ({plain(entry.name)} if len(level) == 1 else set())
        names[head[: len(level[0])]].update(called)
    # A learner's own folder may hold a few, and folders with a few; most of them do only where they are no learners'.
    if all(sum(len(names[one]) > 1 for one in level) * 2 > len(level) for level in levels):
        return entries
    why = f"whoever made the folder around it may have written the name: {min(folders)[-1]!r} may be a learner's, too"
    return {head: replace(entry, unsure=entry.unsure or why) for head, entry in entries.items()}


def _as_an_lms(upload: Upload, heads: Sequence[Parts], folders: Collection[Parts]) -> Sequence[dict[Parts, LmsEntry]]:
    """What is called as an LMS would call it, where not all is: the names alone, and what would be more, which is in doubt."""
    read = [(system.name, *told) for system, read in _readings(upload, heads, folders).items() for told in read.items()]
    sure = [(name, head, entry) for name, head, entry in read if not _is_nobodys(entry, upload.lessons)]
    why = "it is called as {} calls what it hands over, and not all of the upload is"
    names = {head: entry for _, head, entry in sure if entry.only_a_name and not entry.unsure}
    return names, {
        head: replace(one, unsure=why.format(name)) for name, head, one in sure if names.get(head) is not one
    }


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
        may_be = (
            upload.who(head[-1]) or (not upload.strict and not is_nobody(head[-1], upload.lessons)) for head in heads
        )
        if not is_folder.issuperset(heads) or any(may_be):
            return depth
    return _DEEPEST


class _Names:
    """Whom the names of a layout mean: a learner of the class, or a new one whose id the name is as it stands."""

    def __init__(self, upload: Upload, layout: _Layout) -> None:
        self._upload, self._layout = upload, layout
        self._system = layout.system.name if layout.system is not None else ""
        self._alike: dict[str, set[str]] = defaultdict(set)
        self._lasting = layout.system is not None and layout.system.lasting_numbers
        entries = [entry for entry in layout.entries.values() if not entry.unsure]
        self._called = {plain(entry.name): entry.name for entry in reversed(entries)}
        for name in (*upload.people, *self._called):
            self._alike[bare(name)].add(name)
        self._found = {head: self._meant(entry) for head, entry in layout.entries.items()}
        self._note_places(upload.places, layout.depth + 1, set(upload.archives))
        self._note_numbers()
        self._lone = self._is_lone()

    def _is_lone(self) -> bool:
        """Whether all is one person's, and whoever sent or packed it may have written the name."""
        upload, entries = self._upload, self._layout.entries
        if len({self._found[head].learner or entry.name for head, entry in entries.items()}) != 1:
            return False
        is_packed, is_loose = (upload.name,) in upload.archives, self._folders.isdisjoint(entries)
        if self._system:
            return self._layout.depth > 0 or (is_loose and not is_packed)
        is_stranger = upload.roster is not None and not any(upload.who(entry.name) for entry in entries.values())
        return is_loose or is_packed or is_stranger

    def _note_places(self, places: Sequence[FilePlace], depth: int, archives: set[Parts]) -> None:
        """What lies in the folders of the layout: lessons, and whatever people have arranged below."""
        self._groups: dict[tuple[Parts, str], set[str]] = defaultdict(set)
        self._lessons: dict[Parts, set[str]] = defaultdict(set)
        inside: dict[Parts, set[str]] = defaultdict(set)
        for place in filter(lambda one: one.lesson, places):
            head, below = place.parts[:depth], place.parts[depth:]
            self._lessons[head].add(place.lesson)
            if below:
                inside[head].add(below[0])
            if below[1:] and head not in archives:
                self._groups[head, place.lesson].add(without_copy_marks(below[0]))
        self._folders = {one.parts[:depth] for one in places if len(one.parts) > depth} - archives
        self._downloads = {
            head: _download_in(self._upload, names) for head, names in inside.items() if not self._system
        }

    def _note_numbers(self) -> None:
        """Whose each number is, and which number each learner has, by this upload and by all that came before."""
        self._people: dict[tuple[str, Parts], set[str]] = defaultdict(set)
        self._bearers: dict[tuple[str, Parts], set[str]] = defaultdict(set)
        for account in self._upload.accounts:
            if account.system == self._system:
                self._know(account.number, account.learner, [account.scope])
        before = {key: frozenset(learners) for key, learners in self._bearers.items()}
        for head, entry in self._layout.entries.items():
            if not entry.hidden and (self._system or head in self._folders):
                who = entry.account or (entry.name if self._system else plain(entry.name))
                learner, scopes = self._found[head].learner, self._scopes(head, entry)
                # Who was somebody else before takes nobody's name: it is listed, and whose name it is keeps it.
                others = frozenset().union(*(before.get((who, scope), frozenset()) for scope in scopes)) - {learner}
                if not others or any(self._is_another_name(one, learner, who) for one in others):
                    self._know(who, learner, scopes)

    def _by_number(self, entry: LmsEntry) -> frozenset[str]:
        """Whose the roster says the number is."""
        roster = self._upload.roster
        return roster.who("", entry.account, self._system) if roster is not None else frozenset()

    def _know(self, who: str, learner: str, scopes: Iterable[Parts]) -> None:
        """A number, or a name where there is none, is this learner's within each of these."""
        for scope in scopes if learner else ():
            self._people[learner, scope].add(who)
            self._bearers[who, scope].add(learner)

    def _scopes(self, head: Parts, entry: LmsEntry) -> Collection[Parts]:
        """Within what a number, or a name, is one person's: everywhere, or in one download, and a number in a lesson."""
        if self._lasting:
            return [()]
        lessons = {self._upload.lesson} - {""} or self._lessons[head] or set().union(*self._lessons.values())
        return [head[:-1], *((lesson,) for lesson in sorted(lessons) if entry.account)]

    def owner(self, place: FilePlace) -> Whose:
        """Whose a file is, or why that cannot be told."""
        head = place.parts[: self._layout.depth + 1]
        entry = self._layout.entries.get(head)
        if entry is None:
            return self._unnamed(place)
        found = self._found[head]
        if learner := found.learner:
            why = self._several(head, entry, learner) or self._group(place, entry) or self._around(learner)
            why = why or (_ALONE if self._lone else "")
            found = Whose(why=why) if why else found
        file = entry.file if entry.file and place.parts == head else place.parts[-1]
        # Whoever arranged the files has named the folders.
        is_named = entry.only_a_name and (self._system or head not in self._folders)
        named = (self._upload.name, *head) if is_named else ()
        told = entry if self._system and not entry.unsure and not self._lone else None
        return replace(found, entry=told, system=self._system, file=file, named=named)

    def _unnamed(self, place: FilePlace) -> Whose:
        """The owner of what is not called as the rest of its upload is."""
        file, system = place.parts[-1], self._layout.system
        if system is None:
            return Whose(why="neither a folder nor the file's name says whose it is", file=file)
        if system.own_files.fullmatch("/".join(place.parts[self._layout.depth :])):
            return Whose(made=True)
        return Whose(why=f"it is not called as {system.name} calls what it hands over, and all around it is", file=file)

    def _meant(self, entry: LmsEntry) -> Whose:
        """Whom a name means, and the LMS's number with it."""
        upload, name = self._upload, entry.name
        if entry.unsure or name != name.strip():
            return Whose(why=entry.unsure or f"to some systems the folder {name!r} is the same as {name.strip()!r}")
        roster = upload.roster
        found: Collection[str] = roster.who(name, entry.account, self._system) if roster is not None else ()
        if roster is not None and self._layout.system is not None:
            found = found or next(filter(None, map(roster.who, self._layout.system.also_called(name))), ())
        if not found and entry.hidden:
            return Whose(why=HIDDEN)
        if not found and upload.strict:
            return Whose(why=f"the table of names has no learner {name!r}")
        found = found or self._alike[bare(name)]
        if len(found) > 1:
            return Whose(why=f"it may belong to {_listed(found)}")
        if (learner := min(found)) in upload.people.values():
            return Whose(learner)
        learner = upload.people.get(learner, unicodedata.normalize("NFC", self._called[plain(name)]))
        why = why_no_learner(learner)
        return Whose(why=f"{learner[:60]!r} cannot be the name of a learner's folder: {why}") if why else Whose(learner)

    def _several(self, head: Parts, entry: LmsEntry, learner: str) -> str:
        """Whether several who are called, or spelled, otherwise may all be this learner: in words, or empty.

        Who is somebody else says the LMS's number, everywhere or in one download; without one the name, as it is written.
        """
        roster, number = self._upload.roster, entry.account
        if (why := self._two_numbers(entry, learner)) or self._by_number(entry):
            return why
        if self._system == "Canvas" and number and roster is not None and roster.has_number(learner):
            return f"the roster has another number of {learner!r} than {self._system}'s {number}"
        scopes = self._scopes(head, entry)
        people = set[str]().union(*(self._people[learner, scope] for scope in scopes))
        if len(people) > 1:
            return f"{len(people)} people may be {learner!r} ({_listed(people)})"
        bearers = set[str]().union(*(self._bearers[number, scope] for scope in scopes)) if number else set()
        others = {one for one in bearers - {learner} if not self._is_another_name(one, learner, number)}
        return (
            f"{self._system}'s {number} was {_listed(others)} before, and is called {learner!r} here" if others else ""
        )

    def _two_numbers(self, entry: LmsEntry, learner: str) -> str:
        """Whether another number in the name may be that of who handed it in: in words, or empty."""
        for other in entry.others:
            known = self._bearers[other, ()] | self._by_number(replace(entry, account=other))
            # Whoever is new takes nothing of anybody's.
            if other == entry.account or (known - {learner} and learner in self._upload.people.values()):
                return f"{self._system}'s number may be {entry.account} or {other}: who wrote the other one?"
        return ""

    def _is_another_name(self, known: str, learner: str, number: str) -> bool:
        """Whether a learner was filed under another name before the roster said it, or while the LMS hid whose it is."""
        return self._upload.who(known) == {learner} or (number.isdecimal() and known.endswith(f" {number}"))

    def _group(self, place: FilePlace, entry: LmsEntry) -> str:
        """Whether folders in a folder that is not known as a learner's may be those of learners: in words, or empty."""
        upload, depth = self._upload, self._layout.depth
        if self._system or upload.who(entry.name):
            return ""
        group = self._groups[place.parts[: depth + 1], place.lesson]
        others = {part for part in place.parts[depth + 1 : -1] if upload.who(part)}
        others |= group if len(group) > 1 else set()
        if told := self._downloads.get(place.parts[: depth + 1]):
            return f"it seems to hold what {told} hands over: collect {entry.name!r} by itself"
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


def _download_in(upload: Upload, names: Iterable[str]) -> str:
    """The system as whose download these names in a folder look, with numbers of several people; empty if there is none."""
    found: dict[str, set[str]] = defaultdict(set)
    for system, name in product(upload.systems, names):
        entry = system.read(name, False)
        if entry is not None and entry.account.isdecimal():
            found[system.name].add(entry.account)
    return next((name for name, numbers in found.items() if len(numbers) > 1), "")


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
