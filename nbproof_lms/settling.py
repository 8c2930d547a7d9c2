"""``settle``: what a person has seen of what cannot be graded, or has no place, and no run asks about again.

It is noted by its name and the digest of what was handed in (``.course/settled.json``): other bytes are asked about.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product
from pathlib import Path

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import UsageError
from nbproof.files import digest_of
from nbproof.gradebook.marks import Mark, Person, by_assignment
from nbproof.gradebook.receipts import TIME, time_told
from nbproof.key import Key
from nbproof.places import places
from nbproof.recover.notebook_bytes import files_below
from nbproof.report.records import read_class
from nbproof.run.hand_ins import LessonBook
from nbproof.run.intake import by_id, is_called, lessons_with_source, take_in
from nbproof.run.journal import is_noted, note_settled, only_run, settled_in
from nbproof.text import printable
from nbproof.values.words import words_of
from nbproof_lms.attendance import Attendance, Useless, astray_lines, find_learners, known_of, people_of, useless
from nbproof_lms.outcome import NEEDS_NOBODY, STANDS, meant_in

__all__ = ["but_settled", "copies_in_time", "forget_others", "run_settle", "seen_in", "without_place"]


def seen_in(root: Path, keys: Iterable[Key], others: Iterable[Useless]) -> dict[Key, bool]:
    """Those of these keys that a person has settled and that are still the same -> whether they were left open.

    ``others``: what does not lie in submitted/, because nothing of it can be graded.
    """
    noted = settled_in(root)
    asked = {key: _digest(root, key) for key in keys if key.name in noted}
    asked |= {one.key: one.sha256 for one in others}
    return {key: noted[key.name]["open"] for key, digest in asked.items() if is_noted(noted, key.name, digest)}


def but_settled(root: Path, keys: Iterable[Key], found: Attendance) -> tuple[Attendance, dict[Key, bool]]:
    """The class without the useless files that a person has settled; and all that is settled, of these keys as well, with
    whether it was left open."""
    seen = seen_in(root, keys, found.useless)
    return replace(found, useless=tuple(one for one in found.useless if one.key not in seen)), seen


def without_place(root: Path, told: Iterable[Useless]) -> tuple[str, ...]:
    """Files of uploads, by their names there, that count for nobody, and that nobody has settled. ``told``: what is told by
    its learner and lesson."""
    noted, others = settled_in(root), {(one.key, one.sha256) for one in told}
    files = (one for one in _of_uploads(root) if one.astray and not one.over and (one.key, one.digest) not in others)
    return tuple(dict.fromkeys(one.name for one in files if not is_noted(noted, one.name, one.digest)))


def forget_others(root: Path, keys: Iterable[Key]) -> None:
    """Forget that a person has settled these where other bytes lie there now: what comes again then is asked about."""
    noted = settled_in(root)
    others = {key.name for key in keys if key.name in noted and noted[key.name]["digest"] != _digest(root, key)}
    if others:
        note_settled(root, {name: one for name, one in noted.items() if name not in others})


def _digest(root: Path, key: Key) -> str:
    """Changes with any byte of what was handed in; empty if nothing is there."""
    return _digest_below(places(root).folder("submitted", *key), key.name)


def _digest_below(folder: Path, name: str) -> str:
    parts = [name.encode(errors="replace")]
    try:
        for path in files_below(folder):
            parts += [str(path.relative_to(folder)).encode(errors="replace"), path.read_bytes()]
    except OSError as error:
        parts.append(str(error).encode(errors="replace"))
    return digest_of(*parts) if os.path.lexists(folder) else ""


def copies_in_time(course: Course, root: Path, scores: Iterable[Mark]) -> Iterator[tuple[str, Key]]:
    """Of work that loses marks because it is late: each earlier copy with an answer that may have come in time, and whose it is,
    until a person has settled that."""
    noted = settled_in(root)
    for one in _in_time(course, root, scores):
        if not is_noted(noted, one.name, one.digest):
            yield str(root / one.place), one.key


@dataclass(frozen=True)
class _Trouble:
    """``name``: what it is noted by: learner and lesson, or a path in an upload. ``key``: of what may be told under both names.
    ``place``: of the copy, relative to the course's folder. ``over``: the learner has handed in what can be graded since, or
    it is known by now whose it is.
    ``astray``: it counts for nobody, and nobody but a person can say for whom.
    """

    name: str
    digest: str
    key: Key
    said: str
    place: str = ""
    over: bool = False
    astray: bool = False

    @property
    def names(self) -> tuple[str, str]:
        """What a person may call it."""
        return self.name, self.key.learner


def _of_class(course: Course, root: Path) -> Iterator[_Trouble]:
    """The work of the class that cannot be graded, or not as a whole."""
    lessons = lessons_with_source(root, [])
    handed_in = {one.key for one in take_in(course, root, lessons).submissions}
    marks = read_class(course, root, [], told=known_of(course, root)).marks if handed_in else {}
    for key in sorted(handed_in & marks.keys()):
        said = "; ".join(
            filter(None, dict.fromkeys((marks[key].problem, *marks[key].missing(words_of(course)).values())))
        )
        if said and not marks[key].behind:
            yield _Trouble(key.name, _digest(root, key), key, said + _given(marks[key]))
    for one in useless(root, handed_in):
        yield _Trouble(one.key.name, one.sha256, one.key, str(one) + _given(marks.get(one.key)))
    yield from _in_time(course, root, by_assignment(marks).values())


def _in_time(course: Course, root: Path, scores: Iterable[Mark]) -> Iterator[_Trouble]:
    late = {mark.key: mark.late.due or datetime.max for mark in scores if mark.penalty}
    book = LessonBook(course, root)
    for folder in sorted(root.glob("collected/*/replaced/*/*")):
        key = Key(folder.parent.name, folder.name.partition("~")[0])
        came = time_told(folder / TIME, places(root).zone) or datetime.min
        if key not in late or came.replace(microsecond=0, tzinfo=None) > late[key]:
            continue
        if _may_count(folder, places(root).folder("submitted", *key), book):
            name = str(folder.relative_to(root))
            yield _Trouble(name, _digest_below(folder, name), key, "an earlier copy, which may have come in time", name)


def _may_count(earlier: Path, there: Path, book: LessonBook) -> bool:
    """Whether the earlier copy has an answer, and all notebooks of the assignment: with one that came late it is late."""
    guesses = [*map(book.guess, earlier.glob("*.ipynb"))]
    later = {book.guess(path).lesson for path in there.glob("*.ipynb")}
    return later <= {"", *(one.lesson for one in guesses)} and any(one.lesson and not one.untouched for one in guesses)


def _given(mark: Mark | None) -> str:
    return f"; it has {mark.score:g} with what a person gave, and that counts" if mark and mark.by_person else ""


def _of_uploads(root: Path) -> Iterator[_Trouble]:
    """Files about which `collect` asks a person, and that no other command settles."""
    came = list(meant_in(root))
    owned = {line.file[1:] for line, _ in came if line.learner and line.status in NEEDS_NOBODY}
    given = Counter(sha256 for sha256, _ in {(line.sha256, line.learner) for line, _ in came if line.by_hand})
    strangers = Counter(sha256 for _, sha256 in {line.file[1:] for line, _ in came if not line.learner})
    good = [(line, key) for line, key in came if line.status in STANDS]
    placed = {one: line.folder for line, key in good for one in (key, Key(key.learner, ""))}
    for line, key in came:
        if line.needs_person and line.status != "waits":
            # Of two files that nobody is known to have handed in, each may be another learner's.
            whose = key if line.learner else Key("nobody", line.name)
            said = ": ".join(filter(None, (line.status, line.why)))
            if line.learner:
                over = line.folder < placed.get(key, "")
            else:  # a person has said whose as many files of these bytes are, or a later upload did
                over = line.file[1:] in owned or given[line.sha256] >= strangers[line.sha256]
            astray = line.status not in NEEDS_NOBODY
            yield _Trouble(line.name, line.sha256, whose, said, line.place, over, astray)


_BECOMES = {
    "zero": "seen: what has no mark counts 0",
    "open": "seen, and left open",
    "undo": "asked about again",
}


def _meant(root: Path, every: Sequence[_Trouble], said: Sequence[str]) -> list[_Trouble]:
    """What a person means by these names, under each name that it has; all of it without any. Raises UsageError."""
    # As `collect` prints it, and as a shell in the course's folder completes it.
    paths = {os.path.abspath(root / one.place): one.name for one in every if one.place}
    told = [paths.get(os.path.abspath(name), name) for name in said]
    names = [name for one in every for name in one.names]
    asked = [by_id(name, names, lambda said: find_learners(root, [said], "settle")[0]) for name in told]
    if unknown := [name for name in asked if not any(is_called(one, name) for one in names)]:
        fact = f"nothing that waits for you is called {unknown[0]!r}"
        raise UsageError(fact, str(root.resolve()), f"{course_command('settle', root)} lists what does")
    meant = {(one.key, one.digest) for one in every if any(is_called(*pair) for pair in product(one.names, asked))}
    return [one for one in every if not said or (one.key, one.digest) in meant]


def run_settle(arguments: Namespace) -> int:
    """Say what is settled, and note it; without names say what there is. 0. Raises UsageError if a name fits nothing."""
    root: Path = arguments.course
    becomes = _BECOMES[arguments.how] if arguments.names else ""
    with only_run(root):
        noted, people = settled_in(root), people_of(root)
        meant = _meant(root, [*_of_uploads(root), *_of_class(arguments.works_for, root)], arguments.names)
        for one in {one.name: one for one in meant}.values():
            before = "settled" if is_noted(noted, one.name, one.digest) else "waits for you"
            if one.over and not becomes and before != "settled":
                continue
            whose = people.get(one.key.learner, Person(one.key.learner)).contact
            print(printable(f"{one.name}  ({whose})  {becomes or before}: {one.said}"))
            if becomes:
                digest = one.digest * (arguments.how != "undo")
                noted[one.name] = {"digest": digest, "learner": one.key.learner, "open": arguments.how == "open"}
        note_settled(root, noted)
    for line in astray_lines((), root):
        print(printable(line))
    return 0
