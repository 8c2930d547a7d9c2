"""The class and what each learner handed in: nothing, only what cannot be graded, something late, or copies with no known last
one."""

from __future__ import annotations

import shlex
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import UsageError
from nbproof.gradebook.marks import Mark, Person
from nbproof.gradebook.reader import due_dates_in, opened_gradebook, people_in
from nbproof.gradebook.receipts import TIME
from nbproof.grouping import grouped
from nbproof.key import Key
from nbproof.places import places
from nbproof.report.attendance import Attendance, NothingGradable, missing_in
from nbproof.report.records import ClassBackground, everybody, joined
from nbproof.report.statistics import missing_lines
from nbproof.run.intake import gradable_lessons, take_in
from nbproof.run.journal import RunState
from nbproof.text import counted, printable, some_of
from nbproof_lms.names import bare_words
from nbproof_lms.outcome import NEEDS_NOBODY, STANDS, FileRecord, broken_off, digest_in, meant_in, records_in
from nbproof_lms.roster import ROSTER, Member, Roster, members_of

__all__ = [
    "astray_lines",
    "attend",
    "background_of",
    "choice",
    "find_learners",
    "late_by_lms",
    "lines_of",
    "name_in_gradebook",
    "nothing_gradable_in",
    "people_of",
    "taken_off_lines",
    "two_ids_lines",
    "undecided",
    "undecided_lines",
    "zeros_apart",
    "zeros_lines",
]

_ALIKE = 0.75
"""How alike two words are that differ by a typing error, as difflib counts."""
_LONGEST = 128
"""The most signs of a name or an address that nbgrader's table of students takes."""


def people_of(root: Path) -> dict[str, Person]:
    """Everybody of the class: on the roster, in the gradebook, with a folder in ``submitted/``. Raises CourseError."""
    with opened_gradebook(root) as book:
        known = people_in(book) if book is not None else []
    there = filter(str.isprintable, places(root).learners())
    return {one.id: one for one in everybody(_on_roster(root), known, there)}


def find_learners(root: Path, names: Sequence[str], place: str, *, by_id: bool = False) -> list[str]:
    """The ids of the learners with these names, each once.

    ``names``: ids, or names in any order of their words, letter case or spelling of accents, or addresses, or other ids of
    theirs. If a name is no id, a line on standard error says which learner it means. ``place``: the command or option that an
    error names. ``by_id``: only ids are taken. Raises UsageError if a name does not mean one learner; it lists those near it.
    """
    people = {record.learner: Person(record.learner) for record in records_in(root)} | people_of(root)
    people.pop("", None)
    roster = _as_roster(root, people.values())
    found: dict[str, None] = {}
    for name in names:
        fitting = _fitting(name, people, roster)
        if len(fitting) != 1 or (by_id and name not in fitting):
            raise _unclear(root, name, place, [people[one] for one in fitting], people.values())
        (learner,) = fitting
        if learner != name:
            print(f"{name!r} is {people[learner].contact}", file=sys.stderr)
        found[learner] = None
    return list(found)


def _fitting(name: str, people: Mapping[str, Person], roster: Roster) -> Collection[str]:
    """The ids of the people that a name may mean: by the id, a whole name, a number, or some words of a name."""
    if name in people:
        return {name}
    words = {*bare_words(name)} or {""}
    # A last name is enough, if no other learner has it.
    return (
        roster.called(name)
        or roster.numbered(name)
        or {one.id for one in people.values() if words <= {*bare_words(one.name)}}
    )


_TAKES_LESSONS = {"feedback": "--lesson {}", "roster remove": "--lesson {}", "--only": "LEARNER/{}"}
"""Command, or option -> how it takes a lesson."""
_MOST_NEAR = 3
"""With more of them than that, a name is near to none."""


def _unclear(root: Path, name: str, place: str, fitting: Sequence[Person], people: Collection[Person]) -> UsageError:
    near = [one for one in people if _is_near(one, name)]
    meant = fitting
    if not fitting and len(near) <= _MOST_NEAR:
        meant = near
    told = f", and may mean: {some_of([one.contact for one in meant], 8)}" if meant else ""
    then = "run the same command again with the id that you mean"
    if name in places(root).lessons():
        told = ", but a lesson's"
        if place in _TAKES_LESSONS:
            then = f"run the same command again with {_TAKES_LESSONS[place].format(name)} in its place, or with a learner's id"
    elif not meant and people:
        then += f", choose from: {some_of([one.id for one in near or people], 8)}"
    return UsageError(
        f"{name!r} is no learner's id{told}", place, f"{then}; {course_command('roster', root)} shows all"
    )


def _as_roster(root: Path, people: Collection[Person]) -> Roster:
    """A roster with all these people, and with the other names that the kept one has of them."""
    also = {one.learner: one.also for one in members_of(root)}
    members = []
    for one in people:
        others = chain.from_iterable(also.get(name, ()) for name in one.ids)
        members.append(Member(one.id, one.name, one.email, (*one.also, *others)))
    return Roster(tuple(members))


def _is_near(person: Person, name: str) -> bool:
    """Whether each word of a name is in the person's name, id or address, apart from typing errors."""
    own = bare_words(f"{person.id} {person.name} {person.email}")
    return all(word in " ".join(own) or get_close_matches(word, own, 1, _ALIKE) for word in bare_words(name) or ("?",))


def name_in_gradebook(root: Path) -> None:
    """Write the names and addresses of the roster into the gradebook's table of students.

    What the roster has put there, and no longer says, is removed; what others have put there stays if the roster says nothing.
    A caller holds the course's lock. Raises CourseError.
    """
    state = RunState(root)
    with opened_gradebook(root) as book:
        if book is None:
            return
        known = {one.id: one for one in people_in(book)}
        for member in [one for one in _on_roster(root)(known) if one.id in known]:
            student = known[member.id]
            before = state.named.get(member.id, {})
            from_roster: dict[str, Any] = {name: "" for name, text in before.items() if getattr(student, name) == text}
            others = replace(student, **from_roster)
            columns = _as_student(joined(others, member))
            if columns != _as_student(student):
                book.update_or_create_student(member.id, **columns)
            state.named[member.id] = {
                name: text for name, text in columns.items() if text not in (None, getattr(others, name))
            }
    state.save()


def _as_student(one: Person) -> dict[str, str | None]:
    """The columns of nbgrader's table. It has none for a whole name, so that is put into the column of the last name.

    The first name is empty then, and not None, because formgrader shows a name only if both parts are there.
    """
    first: str | None = one.first_name[:_LONGEST]
    last = (one.last_name or one.full_name)[:_LONGEST]
    if not last:
        first = first or None
    return {"first_name": first, "last_name": last or None, "email": one.email[:_LONGEST] or None}


def _on_roster(root: Path) -> Callable[[Collection[str]], list[Person]]:
    return Roster(members_of(root)).people


def attend(root: Path, people: Mapping[str, Person], handed_in: Collection[Key], lessons: Sequence[str]) -> Attendance:
    """Compare the class with what it handed in.

    ``people``: the class, by id. ``handed_in``: the keys of all that lies in ``submitted/``. ``lessons``: those to ask about.
    """
    others = tuple(one for one in nothing_gradable_in(root, handed_in) if one.lesson in {"", *lessons})
    came = {*handed_in, *(one.key for one in others)}
    everybody = {one.learner: Person(one.learner) for one in others} | {**people}
    waiting = undecided(root, {key for key in came if key[1] in lessons})
    return Attendance(missing_in(lessons, everybody, came), others, waiting, people)


def lines_of(attendance: Attendance, root: Path) -> list[str]:
    """Lines for a terminal on learners who handed in nothing, or nothing that can be graded, or a copy that waits."""
    called = attendance.contact
    lines = [
        *missing_lines(attendance.missing, called),
        *attendance.withdrawn,
        *zeros_lines(attendance.people.values()),
    ]
    for one in attendance.nothing_gradable:
        key = ": ".join(filter(None, (called(one.learner), one.lesson)))
        lines.append(f"! nothing that can be graded: {key}: {one}")
    lines += undecided_lines(attendance.undecided, called, root)
    return [printable(line) for line in (*lines, *astray_lines(attendance.without_place, root))]


def undecided_lines(waiting: Mapping[Key, Sequence[str]], called: Callable[[str], str], root: Path) -> Iterator[str]:
    """Lines on each copy that waits until a person names it, with the commands that do. ``called``: the name of a learner."""
    for (learner, lesson), copies in waiting.items():
        yield (
            f"! another copy waits: {called(learner)}: {lesson}: it counts once you say so. "
            "What lies in submitted/, if anything does, is graded meanwhile. Say which one counts:"
        )
        for copy in copies:
            yield f"    {choice(root, copy, learner, lesson)}"


def two_ids_lines(people: Iterable[Person], marks: Iterable[Mark], root: Path) -> list[str]:
    """A line for each person of the roster with something under several ids: what each id has, and how to make one of them.

    ``marks``: all marks of the class.
    """
    has: dict[str, list[str]] = defaultdict(list)
    for mark in marks:
        by_hand = ", marks by hand" if mark.by_person else ""
        has[mark.learner].append(f"{mark.lesson} ({mark.score:g}{by_hand})")
    with opened_gradebook(root) as book:
        if book is not None:
            for key in due_dates_in(book).extensions:
                has[key.learner].append(f"an extension for {key.lesson}")
    several = {tuple(sorted(one.ids & has.keys())) for one in people}
    lines = []
    for ids in sorted(several):
        if len(ids) > 1:
            told = "; ".join(f"{one}: {', '.join(has[one])}" for one in ids)
            lines.append(
                f"! one person under several ids: {told}. An extension, and marks that people gave, stay with their id. Move "
                f"what counts to one of these folders of submitted/, then: {course_command('roster remove OTHER', root)}; give "
                f"that one the extension, and the marks: {course_command('roster extend ID LESSON DATE', root)}"
            )
    return lines


def taken_off_lines(root: Path, people: Mapping[str, Person]) -> list[str]:
    """A line on learners whose line of the roster somebody has taken out, if any of them still count: they are in ``people``."""
    named = RunState(root).named
    gone = sorted(named.keys() & people.keys() - {one.id for one in _on_roster(root)(named)})
    if not gone:
        return []
    keep, away = (course_command(shlex.join(["roster", what, gone[0]]), root) for what in ("add", "remove"))
    told = some_of([people[one].contact for one in gone], 8)
    return [
        f"! no longer in {ROSTER}, and still of the class, with marks or work: {told}; who has left: {away}; else: {keep}"
    ]


def zeros_apart(people: Iterable[Person]) -> list[tuple[Person, Person]]:
    """Pairs of people with one name or address, and ids that differ only in zeros in front. Who has fewer zeros comes first."""
    alike = grouped((one.id.lstrip("0"), one) for one in people if one.id.isdecimal())
    pairs = (pairwise(sorted(several, key=lambda one: len(one.id))) for several in alike.values())
    return [(one, other) for one, other in chain.from_iterable(pairs) if _said_of(one) & _said_of(other)]


def _said_of(person: Person) -> set[tuple[str, ...]]:
    return {bare_words(person.name), (person.email.casefold(),)} - {(), ("",)}


def zeros_lines(people: Iterable[Person]) -> list[str]:
    """A line for each pair of :func:`zeros_apart`, which says how to make one person of the two."""
    return [
        f"! two ids that differ only in zeros in front, and one name or address: {other.contact} and {one.contact}. Spreadsheets "
        f"drop such zeros: if they are one person, write {other.id} for {one.id} in roster.csv, or as the folder in submitted/"
        for one, other in zeros_apart(people)
    ]


def astray_lines(files: Sequence[str], root: Path) -> list[str]:
    """A line on each upload that was cut off, and a line on files of uploads that count for nobody, if there are any."""
    lines = [
        f"! {upload.upload} broke off when it was collected, and {counted(len(left), 'notebook')} did not come to submitted/: "
        f"{course_command('grade', root)} puts them there, and grades them"
        for upload, left in broken_off(root)
    ]
    if files:
        lines.append(f"! came, and counts for nobody yet: {some_of(files, 8)}; why: {course_command('settle', root)}")
    return lines


def choice(root: Path, copy: str, learner: str, lesson: str) -> str:
    """The command that makes a copy count. ``copy``: its path, relative to the course's folder."""
    words = f"collect {shlex.quote(str(root / copy))} --learner {shlex.quote(learner)} --lesson {lesson}"
    return course_command(words, root)


def background_of(course: Course, root: Path) -> ClassBackground:
    """The background of a report on the class: its people, and what came and is not graded."""
    lessons = gradable_lessons(root, [])
    left = chain.from_iterable(records for _, records in broken_off(root))
    coming = {record.key for record in left}
    handed_in = {*coming, *(one.key for one in take_in(course, root, lessons).submissions)}
    return ClassBackground(
        _on_roster(root),
        late_by_lms(root),
        {one.key: str(one) for one in nothing_gradable_in(root, handed_in)},
        tuple(undecided(root, handed_in)),
        frozenset(coming),
    )


def late_by_lms(root: Path) -> frozenset[Key]:
    """The keys of all that an LMS calls late without saying when it came, and that lies in ``submitted/`` now.

    Where the same bytes came again, they came when they came first, unless others counted between.
    """
    # Of each attempt the LMS's last word: its due date may have moved.
    words = defaultdict[tuple[Key, str], dict[int, bool]](dict)
    stood: dict[Key, str] = {}
    for record in records_in(root):
        if record.says_when and all(record.key):
            attempts = words[record.key, record.sha256]
            if record.status in STANDS:
                if stood.get(record.key) != record.sha256:
                    attempts.clear()
                stood[record.key] = record.sha256
            attempts[record.number] = record.late and record.time is None
    late = {key for (key, digest), its in words.items() if all(its.values()) and digest == digest_in(root, *key)}
    return frozenset(key for key in late if not (places(root).folder("submitted", *key) / TIME).exists())


def nothing_gradable_in(root: Path, handed_in: Collection[Key]) -> tuple[NothingGradable, ...]:
    """The last file that a learner handed in for a lesson, for each learner and lesson that ``handed_in`` lacks."""
    found: dict[Key, NothingGradable] = {}
    there = {learner for learner, _ in handed_in}
    for record, key in meant_in(root):
        if not record.learner or record.status in NEEDS_NOBODY or key in handed_in:
            continue
        # A data file has no lesson if it waits with its notebook.
        if key.lesson or (record.learner not in there and record.status != "waits"):
            found[key] = _as_nothing_gradable(record, key)
    return tuple(one for _, one in sorted(found.items()))


def _as_nothing_gradable(record: FileRecord, key: Key) -> NothingGradable:
    says_more = record.status != "no notebook" and record.why
    why = f"{record.status}, {record.why}" if says_more else record.status
    name = printable(record.name.rsplit("/", 1)[-1][:120])
    return NothingGradable(*key, name, why[:200], record.status, record.sha256)


def undecided(root: Path, keys: Collection[Key]) -> dict[Key, tuple[str, ...]]:
    """Key -> its copies, if one that is not in ``submitted/`` may be the last, until a person names one.

    ``keys``: those that are asked about. A copy is a path in the course's folder; the one in ``submitted/`` comes first.
    """
    waiting: dict[Key, dict[str, str]] = defaultdict(dict)
    known: dict[tuple[Key, str], str] = {}
    for record in records_in(root):
        if record.by_hand and record.status in STANDS:
            waiting.pop(record.key, None)
        if record.kept:
            known[record.key, record.sha256] = record.path_in_course
        if record.kept and record.status == "waits" and record.key in keys:
            waiting[record.key][record.sha256] = record.path_in_course
    found = {}
    for key, copies in sorted(waiting.items()):
        graded = digest_in(root, *key)
        if graded not in copies:
            paths = (known.get((key, graded), ""), *copies.values())
            found[key] = tuple(filter(None, paths))
    return found
