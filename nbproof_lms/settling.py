"""``settle``: a person has seen something that cannot be graded, or has no place, and no run asks about it again.

It is noted by its name and the digest of what was handed in (``.course/settled.json``): other bytes are asked about.
"""

from __future__ import annotations

import glob
import hashlib
import os
import shlex
from argparse import Namespace
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import UsageError, may_mean
from nbproof.files import digest_of
from nbproof.gradebook.marks import Mark, Person, by_assignment
from nbproof.gradebook.receipts import TIME, readable_time_in
from nbproof.grouping import grouped
from nbproof.key import Key
from nbproof.places import places
from nbproof.recover.notebook_bytes import files_below
from nbproof.report.attendance import Attendance, NothingGradable
from nbproof.report.records import read_class
from nbproof.run.hand_ins import LessonBook
from nbproof.run.intake import by_id, gradable_lessons, is_called, take_in
from nbproof.run.journal import is_noted, note_settled, only_run, settled_in
from nbproof.text import printable
from nbproof.values.words import words_of
from nbproof_lms.attendance import (
    astray_lines,
    background_of,
    find_learners,
    nothing_gradable_in,
    people_of,
    undecided,
    undecided_lines,
)
from nbproof_lms.choosing import later
from nbproof_lms.outcome import NEEDS_NOBODY, STANDS, FileRecord, digest_in, meant_in, records_in
from nbproof_lms.placing import SubmittedFolder

__all__ = ["but_settled", "copies_in_time", "forget_others", "run_settle", "seen_in", "without_place"]


def seen_in(root: Path, keys: Iterable[Key], others: Iterable[NothingGradable]) -> dict[Key, bool]:
    """The keys that a person has settled, and that still have the same bytes -> whether the person left them open.

    ``keys``: in submitted/; ``others``: what does not lie there, because nothing of it can be graded.
    """
    noted = settled_in(root)
    asked = {key: _digest(root, key) for key in keys if key.name in noted}
    asked |= {one.key: one.sha256 for one in others}
    return {key: noted[key.name]["open"] for key, digest in asked.items() if is_noted(noted, key.name, digest)}


def but_settled(root: Path, keys: Iterable[Key], found: Attendance) -> tuple[Attendance, dict[Key, bool]]:
    """The class without files that a person has settled, and all that is settled -> whether it was left open.

    ``keys``: what lies in submitted/, and may be settled as well.
    """
    seen = seen_in(root, keys, found.nothing_gradable)
    return replace(found, nothing_gradable=tuple(one for one in found.nothing_gradable if one.key not in seen)), seen


def without_place(root: Path, told: Iterable[NothingGradable]) -> tuple[str, ...]:
    """The names of files in uploads that count for nobody, and that nobody has settled.

    ``told``: files that are listed by learner and lesson elsewhere, and are left out here.
    """
    noted = settled_in(root)
    others = {(one.key, one.sha256) for one in told}
    astray = (one for one in _of_uploads(root) if one.is_astray and not one.is_over)
    files = (one for one in astray if (one.key, one.digest) not in others)
    return tuple(dict.fromkeys(one.name for one in files if not is_noted(noted, one.name, one.digest)))


def forget_others(root: Path, keys: Iterable[Key]) -> None:
    """Forget that a person has settled these keys, for each that has other bytes now: these are asked about."""
    noted = settled_in(root)
    others = {key.name for key in keys if key.name in noted and noted[key.name]["digest"] != _digest(root, key)}
    if others:
        note_settled(root, {name: one for name, one in noted.items() if name not in others})


def _digest(root: Path, key: Key) -> str:
    """A digest of all files that were handed in; empty if nothing is there."""
    return _digest_below(places(root).folder("submitted", *key), key.name)


def _digest_below(folder: Path, name: str) -> str:
    """The same of a folder that has this ``name`` among what is settled."""
    if not os.path.lexists(folder):
        return ""
    parts = [name.encode(errors="replace")]
    try:
        for path in files_below(folder):
            parts += [str(path.relative_to(folder)).encode(errors="replace"), path.read_bytes()]
    except OSError as error:
        parts.append(str(error).encode(errors="replace"))
    return digest_of(*parts)


def copies_in_time(course: Course, root: Path, scores: Iterable[Mark]) -> Iterator[tuple[str, Key]]:
    """The path and the key of each earlier copy that may have come in time, if the work loses marks because it is late.

    The copy holds an answer, and no person has settled it. ``scores``: the marks of assignments.
    """
    noted = settled_in(root)
    for one in _in_time(course, root, scores):
        if not is_noted(noted, one.name, one.digest):
            yield str(root / one.copy), one.key


@dataclass(frozen=True)
class _Trouble:
    """Something that a person can settle. ``said``: a sentence about it.

    ``name``: it is noted by this: learner and lesson, or a path in an upload. ``key``: its learner and lesson.
    ``copy``: the path of the copy, relative to the course's folder. ``is_over``: the learner has handed in something better
    since, or its learner is known by now. ``is_astray``: it counts for nobody, and only a person can say for whom it counts.
    """

    name: str
    digest: str
    key: Key
    said: str
    copy: str = ""
    is_over: bool = False
    is_astray: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a person may use for it. The learner is one of them, if it is known who that is."""
        return tuple(filter(None, (self.name, self.key.learner)))

    def is_called(self, pattern: str) -> bool:
        """Whether a name that a person has used means it."""
        return any(is_called(name, pattern) for name in self.names)

    def noted(self, how: str) -> dict[str, Any]:
        """The note that keeps it as settled. ``how``: ``zero``, ``open`` or ``undo``."""
        digest = "" if how == "undo" else self.digest
        return {"digest": digest, "learner": self.key.learner, "open": how == "open"}


def _of_class(course: Course, root: Path) -> Iterator[_Trouble]:
    """The work of the class that cannot be graded, or only in part."""
    lessons = gradable_lessons(root, [])
    handed_in = {one.key for one in take_in(course, root, lessons).submissions}
    marks = read_class(course, root, [], background=background_of(course, root)).marks if handed_in else {}
    for key in sorted(handed_in & marks.keys()):
        said = "; ".join(
            filter(None, dict.fromkeys((marks[key].problem, *marks[key].missing(words_of(course)).values())))
        )
        if said and not marks[key].behind:
            yield _Trouble(key.name, _digest(root, key), key, said + _given(marks[key]))
    for one in nothing_gradable_in(root, handed_in):
        yield _Trouble(one.key.name, one.sha256, one.key, str(one) + _given(marks.get(one.key)))
    yield from _in_time(course, root, by_assignment(marks).values())


def _in_time(course: Course, root: Path, scores: Iterable[Mark]) -> Iterator[_Trouble]:
    """Earlier copies of late work that may have come in time."""
    late = {mark.key: mark.late.due or datetime.max for mark in scores if mark.penalty}
    book = LessonBook(course, root)
    over = _chosen_over(root)
    for folder in sorted(root.glob("collected/*/replaced/*/*")):
        key = Key(folder.parent.name, folder.name.partition("~")[0])
        came = readable_time_in(folder / TIME, places(root).zone) or datetime.min
        if key not in late or came.replace(microsecond=0, tzinfo=None) > late[key]:
            continue
        if _notebooks_in([folder]) <= over[key]:
            continue
        if _may_count(folder, places(root).folder("submitted", *key), book):
            name = str(folder.relative_to(root))
            yield _Trouble(name, _digest_below(folder, name), key, _MAY_COUNT, name)
    if late:
        submitted = SubmittedFolder(root)
        earlier = grouped((one.learner, one) for one in records_in(root) if one.status == "earlier copy")
        for key, due in late.items():
            attempts = [one for one in earlier.get(key.learner, ()) if one.sha256 not in over[key]]
            yield from _attempts_in_time(submitted, key, due, attempts, book)


_MAY_COUNT = "an earlier copy, which may have come in time"


def _attempts_in_time(
    submitted: SubmittedFolder, key: Key, due: datetime, attempts: Iterable[FileRecord], book: LessonBook
) -> Iterator[_Trouble]:
    """Of late work, the last attempt in time at each notebook, if the later one came in the same upload.

    None if one of the notebooks was never handed in in time: the others would be late with it.
    """
    there = {book.guess(path).lesson for path in submitted.notebook_path(key).parent.glob("*.ipynb")} - {""}
    now = {lesson: submitted.current(Key(key.learner, lesson)) for lesson in there}
    last: dict[str, FileRecord] = {}
    for one in attempts:
        if one.kept and one.lesson in there and _is_in_time(one, due):
            before = last.get(one.lesson)
            if before is None or later(one, before):
                last[one.lesson] = one
    wanted = there - {lesson for lesson, one in now.items() if one is not None and _is_in_time(one, due)}
    if wanted <= last.keys():
        for lesson in sorted(wanted):
            one = last[lesson]
            if not book.guess(submitted.root / one.path_in_course).untouched:
                yield _Trouble(one.path_in_course, one.sha256, key, _MAY_COUNT, one.path_in_course)


def _is_in_time(record: FileRecord, due: datetime) -> bool:
    """Whether a system says that a file came until then."""
    return record.time is not None and record.time.astimezone(UTC).replace(microsecond=0, tzinfo=None) <= due


def _chosen_over(root: Path) -> Mapping[Key, set[str]]:
    """Learner and assignment -> the digests of what had come when a person had an earlier copy count, which counts still."""
    came, over = defaultdict[Key, set[str]](set), defaultdict[Key, set[str]](set)
    for record in records_in(root):
        key = Key(record.learner, record.key.assignment)
        if record.aside and record.by_hand and record.sha256 == digest_in(root, *record.key):
            replaced = root / "collected" / record.folder / "replaced" / record.learner
            beside = replaced.glob(f"{glob.escape(record.key.assignment)}*")
            over[key] |= came[key] | _notebooks_in(beside)
        came[key].add(record.sha256)
    return over


def _notebooks_in(folders: Iterable[Path]) -> set[str]:
    """The digests of the notebooks in these folders."""
    paths = chain.from_iterable(folder.glob("*.ipynb") for folder in folders)
    return {hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()}


def _may_count(earlier: Path, there: Path, book: LessonBook) -> bool:
    """Whether the earlier copy has an answer, and all notebooks of the assignment: with one that came late it is late."""
    guesses = [*map(book.guess, earlier.glob("*.ipynb"))]
    later = {book.guess(path).lesson for path in there.glob("*.ipynb")}
    is_whole = later <= {"", *(one.lesson for one in guesses)}
    return is_whole and any(one.lesson and not one.untouched for one in guesses)


def _given(mark: Mark | None) -> str:
    if mark is None or not mark.by_person:
        return ""
    return f"; it has {mark.score:g} with what a person gave, and that counts"


def _of_uploads(root: Path) -> Iterator[_Trouble]:
    """Files about which `collect` asks a person, and that no other command settles."""
    came = list(meant_in(root))
    is_owned = _owner_is_known([record for record, _ in came])
    accounts = {record.account: record.learner for record, _ in came if record.account and record.learner}
    placed: dict[Key, str] = {}
    for record, key in came:
        if record.status in STANDS:
            placed[key] = record.folder
            placed[Key(key.learner, "")] = record.folder
    for record, key in came:
        if record.needs_person and record.status != "waits":
            said = ": ".join(filter(None, (record.status, record.why)))
            if record.learner:
                is_over = record.folder < placed.get(key, "")
            else:
                is_over = is_owned(record)
                owner = Key(accounts.get(record.account, ""), key.lesson)
                if record.folder < placed.get(owner, ""):
                    seen = course_command(shlex.join(["settle", record.name]), root)
                    said += f"; {owner.learner} has the same number, and a newer file that counts: if this one does not, {seen}"
                # Of two files that nobody is known to have handed in, each may be another learner's.
                key = Key("", record.name)
            is_astray = record.status not in NEEDS_NOBODY
            yield _Trouble(record.name, record.sha256, key, said, record.path_in_course, is_over, is_astray)


def _owner_is_known(came: Sequence[FileRecord]) -> Callable[[FileRecord], bool]:
    """A question about a file without a learner: whether its learner is known by now.

    That is so if a later upload named the learner of this file, or a person has named one for as many files of these bytes as
    there are without a learner.
    """
    owned = {record.file[1:] for record in came if record.learner and record.status in NEEDS_NOBODY}
    pairs = {(record.sha256, record.learner) for record in came if record.by_hand}
    given = Counter(sha256 for sha256, _ in pairs)
    files = {record.file[1:] for record in came if not record.learner}
    strangers = Counter(sha256 for _, sha256 in files)
    return lambda record: record.file[1:] in owned or given[record.sha256] >= strangers[record.sha256]


_BECOMES = {
    "zero": "seen: what has no mark counts 0",
    "open": "seen, and left open",
    "undo": "asked about again",
}


def _meant(root: Path, every: Sequence[_Trouble], said: Sequence[str]) -> list[_Trouble]:
    """All of these that a person means by the names ``said``, under each name that they have; all of them without names.

    Raises UsageError for a name that fits nothing.
    """
    if not said:
        return list(every)
    # A path is taken as `collect` prints it, and as a shell in the course's folder completes it.
    paths = {os.path.abspath(root / one.copy): one.name for one in every if one.copy}
    names = list(chain.from_iterable(one.names for one in every))
    meant: set[tuple[Key, str]] = set()
    for name in said:
        asked = paths.get(os.path.abspath(name), name)
        if not asked.startswith("collected/"):
            asked = by_id(asked, names, lambda said: find_learners(root, [said], "settle")[0])
        fitting = {(one.key, one.digest) for one in every if one.is_called(asked)}
        if not fitting:
            fact = f"nothing that waits for you is called {asked!r}{may_mean(asked, dict.fromkeys(names))}"
            raise UsageError(fact, str(root.resolve()), f"{course_command('settle', root)} lists what does")
        meant |= fitting
    return [one for one in every if (one.key, one.digest) in meant]


def run_settle(arguments: Namespace) -> int:
    """Do what the command ``settle`` was asked for: print what there is, or note it as settled and print that.

    Returns the exit code, 0. Raises UsageError if a name fits nothing.
    """
    root: Path = arguments.course
    becomes = _BECOMES[arguments.how] if arguments.names else ""
    lines: list[str] = []
    with only_run(root):
        noted = settled_in(root)
        people = people_of(root)
        meant = _meant(root, [*_of_uploads(root), *_of_class(arguments.works_for, root)], arguments.names)
        seen = {one.key for one in meant if is_noted(noted, one.name, one.digest)}
        for one in {one.name: one for one in meant}.values():
            before = "settled" if is_noted(noted, one.name, one.digest) else "waits for you"
            # A file lies in an upload and, where it counts, in submitted/ as well.
            is_over = one.is_over or one.key in seen
            if is_over and not becomes and before != "settled":
                continue
            learner = people.get(one.key.learner, Person(one.key.learner)).contact
            lines.append(f"{one.name}  ({learner or 'no learner known'})  {becomes or before}: {one.said}")
            if becomes:
                noted[one.name] = one.noted(arguments.how)
        note_settled(root, noted)
    waiting = undecided(root, {record.key for record in records_in(root)})
    lines += undecided_lines(waiting, lambda learner: people.get(learner, Person(learner)).contact, root)
    for line in lines or ["nothing waits for you, and nothing is settled"]:
        print(printable(line))
    for line in astray_lines((), root):
        print(printable(line))
    return 0
