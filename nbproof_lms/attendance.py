"""Who of the class handed in what: nothing, only what cannot be graded, something late, or copies with no known last one."""

from __future__ import annotations

import shlex
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import chain, pairwise, product
from pathlib import Path
from typing import Any

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import UsageError
from nbproof.gradebook.marks import Mark, Person
from nbproof.gradebook.reader import due_dates_in, opened_gradebook, people_in
from nbproof.grouping import grouped
from nbproof.key import Key, assignment_of
from nbproof.places import places
from nbproof.report.records import Known, everybody, joined
from nbproof.report.statistics import missing_lines
from nbproof.run.intake import lessons_with_source, take_in
from nbproof.run.journal import RunState
from nbproof.text import counted, printable, some_of
from nbproof_lms.names import bare_words
from nbproof_lms.outcome import NEEDS_NOBODY, STANDS, broken_off, digest_in, lines_in, meant_in
from nbproof_lms.roster import Member, Roster, members_of

__all__ = [
    "Attendance",
    "Useless",
    "astray_lines",
    "attend",
    "choice",
    "find_learners",
    "known_of",
    "late_by_word",
    "lines_of",
    "name_in_gradebook",
    "people_of",
    "two_ids_lines",
    "undecided",
    "useless",
    "zeros_apart",
    "zeros_lines",
]

_ALIKE = 0.75
"""How alike two words are that differ by a typing error, as difflib counts."""
_LONGEST = 128
"""What nbgrader's table of students takes of a name or an address."""


@dataclass(frozen=True)
class Useless:
    """What somebody handed in and nobody can grade. ``lesson`` is empty if nothing says which lesson it was for."""

    learner: str
    lesson: str
    file: str
    why: str
    status: str = ""
    sha256: str = ""

    @property
    def key(self) -> Key:
        """The learner and the lesson."""
        return Key(self.learner, self.lesson)

    def __str__(self) -> str:
        if self.status == "waits":
            return f"{self.file} and another copy wait for you to say which one counts"
        return f"only {self.file} came: {self.why}"


@dataclass(frozen=True)
class Attendance:
    """The class against what it handed in. Assignments that nobody handed in are not asked about.

    ``missing``: lesson -> who handed in nothing for it, perhaps nobody. ``undecided``: copies,
    where nothing says which is the last, as paths in the course's folder: the one that is graded meanwhile first, if a list
    knows it.
    ``people``: everybody, by id. ``withdrawn``: lines of marks for what does not lie in submitted/ any more.
    ``without_place``: files of uploads that count for nobody, until a person says what becomes of them.
    """

    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    useless: tuple[Useless, ...] = ()
    undecided: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    people: Mapping[str, Person] = field(default_factory=dict)
    withdrawn: tuple[str, ...] = ()
    without_place: tuple[str, ...] = ()

    def contact(self, learner: str) -> str:
        """An id, the learner's name, and where to write to them."""
        return self.people.get(learner, Person(learner)).contact


def people_of(root: Path) -> dict[str, Person]:
    """Everybody of the class: on the roster, in the gradebook, with a folder in ``submitted/``. Raises CourseError."""
    with opened_gradebook(root) as book:
        known = people_in(book) if book is not None else []
    there = filter(str.isprintable, places(root).learners())
    return {one.id: one for one in everybody(_on_roster(root), known, there)}


def find_learners(root: Path, names: Sequence[str], place: str, *, by_id: bool = False) -> list[str]:
    """The ids of the learners who are called so, each once.

    ``names``: ids, or names in any order of their words, letter case or spelling of accents, or addresses, or other ids of
    theirs. Who is meant by what is no id is said, on standard error. ``place``: the command or option. ``by_id``: only ids
    are taken. Raises UsageError, with those who may be meant.
    """
    people = {line.learner: Person(line.learner) for line in lines_in(root)} | people_of(root)
    people.pop("", None)
    roster = _as_roster(root, people.values())
    found: dict[str, None] = {}
    for name in names:
        fits = {name} & people.keys() or roster.called(name) or roster.numbered(name)
        words = {*bare_words(name)} or {""}
        # A last name is enough, where no other has it.
        fits = fits or {one.id for one in people.values() if words <= {*bare_words(one.name)}}
        if len(fits) != 1 or (by_id and name not in fits):
            near = [people[one] for one in fits] or [one for one in people.values() if _is_near(one, name)]
            raise _unclear(root, name, place, near)
        (learner,) = fits
        if learner != name:
            print(f"{name!r} is {people[learner].contact}", file=sys.stderr)
        found[learner] = None
    return list(found)


def _unclear(root: Path, name: str, place: str, near: Collection[Person]) -> UsageError:
    told = f", and may mean: {some_of([one.contact for one in near], 8)}" if near else ""
    then = f"run the same command again with the id that you mean; {course_command('roster', root)} shows all"
    return UsageError(f"{name!r} is no learner's id{told}", place, then)


def _as_roster(root: Path, people: Collection[Person]) -> Roster:
    """The roster, with everybody on it who is known besides."""
    also = {one.learner: one.also for one in members_of(root)}
    names = {one.id: (*one.also, *chain.from_iterable(also.get(name, ()) for name in one.ids)) for one in people}
    return Roster(tuple(Member(one.id, one.name, one.email, names[one.id]) for one in people))


def _is_near(person: Person, name: str) -> bool:
    """Whether each word of a name is in theirs, or in their id or address, but for typing errors."""
    own = bare_words(f"{person.id} {person.name} {person.email}")
    return all(word in " ".join(own) or get_close_matches(word, own, 1, _ALIKE) for word in bare_words(name) or ("?",))


def name_in_gradebook(root: Path) -> None:
    """Have the gradebook's students bear the names and addresses of the roster. What the roster has put there, and no longer
    says, goes; what others have put there stays where the roster says nothing. A caller holds the course's lock.

    Raises CourseError.
    """
    state = RunState(root)
    with opened_gradebook(root) as book:
        if book is None:
            return
        known = {one.id: one for one in people_in(book)}
        for member in [one for one in _on_roster(root)(known) if one.id in known]:
            held, before = known[member.id], state.named.get(member.id, {})
            set_before: dict[str, Any] = {name: "" for name, told in before.items() if getattr(held, name) == told}
            others = replace(held, **set_before)
            told = _as_student(joined(others, member))
            if told != _as_student(held):
                book.update_or_create_student(member.id, **told)
            state.named[member.id] = {
                name: text for name, text in told.items() if text not in (None, getattr(others, name))
            }
    state.save()


def _as_student(one: Person) -> dict[str, str | None]:
    """The columns of nbgrader's table. It has none for a whole name: that stands as the last name, beside an empty first one,
    because formgrader shows a name only if both parts are there."""
    last = (one.last_name or one.full_name)[:_LONGEST]
    first = one.first_name[:_LONGEST] or ("" if last else None)
    return {"first_name": first, "last_name": last or None, "email": one.email[:_LONGEST] or None}


def _on_roster(root: Path) -> Callable[[Collection[str]], list[Person]]:
    return Roster(members_of(root)).people


def attend(root: Path, people: Mapping[str, Person], handed_in: Collection[Key], lessons: Sequence[str]) -> Attendance:
    """``handed_in``: (learner, lesson) of all that lies in ``submitted/``. ``lessons``: those that are asked about."""
    others = tuple(one for one in useless(root, handed_in) if one.lesson in {"", *lessons})
    told = {*handed_in, *(one.key for one in others)}
    everyone = sorted({*people, *(one.learner for one in others)})
    ids = {who: people.get(who, Person(who)).ids for who in everyone}
    came = {assignment_of(lesson) for _, lesson in told}
    missing = {
        lesson: tuple(who for who in everyone if told.isdisjoint(product(ids[who], (lesson, ""))))
        for lesson in lessons
        if assignment_of(lesson) in came
    }
    waiting = undecided(root, {key for key in told if key[1] in lessons})
    return Attendance(missing, others, waiting, people)


def lines_of(attendance: Attendance, root: Path) -> list[str]:
    """For a terminal: who handed in nothing for an assignment, who nothing that can be graded, and who a copy that waits."""
    called = attendance.contact
    lines = [
        *missing_lines(attendance.missing, called),
        *attendance.withdrawn,
        *zeros_lines(attendance.people.values()),
    ]
    for one in attendance.useless:
        of = called(one.learner) + f": {one.lesson}" * bool(one.lesson)
        lines.append(f"! nothing that can be graded: {of}: {one}")
    for key, copies in attendance.undecided.items():
        lines.append(
            f"! another copy waits: {called(key.learner)}: {key.lesson}: nothing says which one came last. "
            "What lies in submitted/, if anything does, is graded meanwhile. Say which one counts:"
        )
        lines += [f"    {choice(root, copy, *key)}" for copy in copies]
    return [printable(line) for line in (*lines, *astray_lines(attendance.without_place, root))]


def two_ids_lines(people: Iterable[Person], marks: Iterable[Mark], root: Path) -> list[str]:
    """A line for each person of the roster with something under several ids: what each id has, and what makes one of them."""
    with opened_gradebook(root) as book:
        extended = due_dates_in(book).extensions if book is not None else {}
    has = grouped((one.learner, f"{one.lesson} ({one.score:g}{', marks by hand' * one.by_person})") for one in marks)
    for key in extended:
        has[key.learner].append(f"an extension for {key.lesson}")
    lines = []
    for ids in sorted({tuple(sorted(one.ids & has.keys())) for one in people}):
        if len(ids) > 1:
            told = "; ".join(f"{one}: {', '.join(has[one])}" for one in ids)
            lines.append(
                f"! one person under several ids: {told}. An extension, and marks that people gave, stay with their id. Move "
                f"what counts to one of these folders of submitted/, then: {course_command('roster remove OTHER', root)}; give "
                f"that one the extension, and the marks: {course_command('roster extend ID LESSON DATE', root)}"
            )
    return lines


def zeros_apart(people: Iterable[Person]) -> list[tuple[Person, Person]]:
    """Each two whose ids differ in nothing but zeros in front, and who have one name or address; with fewer zeros first."""
    alike = grouped((one.id.lstrip("0"), one) for one in people if one.id.isdecimal())
    pairs = chain.from_iterable(pairwise(sorted(several, key=lambda one: len(one.id))) for several in alike.values())
    return [(one, other) for one, other in pairs if _said_of(one) & _said_of(other)]


def _said_of(person: Person) -> set[tuple[str, ...]]:
    return {bare_words(person.name), (person.email.casefold(),)} - {(), ("",)}


def zeros_lines(people: Iterable[Person]) -> list[str]:
    """A line for each two of these, with what makes one of them."""
    return [
        f"! two ids that differ only in zeros in front, and one name or address: {other.contact} and {one.contact}. Spreadsheets "
        f"drop such zeros: if they are one person, write {other.id} for {one.id} in roster.csv, or as the folder in submitted/"
        for one, other in zeros_apart(people)
    ]


def astray_lines(files: Sequence[str], root: Path) -> list[str]:
    """A line on each upload that was cut off; and one, if there are any, on files of uploads that count for nobody."""
    lines = [
        f"! {upload.upload} broke off when it was collected, and {counted(len(left), 'notebook')} did not come to submitted/: "
        f"{course_command('grade', root)} puts them there, and grades them"
        for upload, left in broken_off(root)
    ]
    if files:
        lines.append(f"! came, and counts for nobody yet: {some_of(files, 8)}; why: {course_command('settle', root)}")
    return lines


def choice(root: Path, copy: str, learner: str, lesson: str) -> str:
    """The command that makes a copy count; ``copy``: where it is kept, relative to the course's folder."""
    words = f"collect {shlex.quote(str(root / copy))} --learner {shlex.quote(learner)} --lesson {lesson}"
    return course_command(words, root)


def known_of(course: Course, root: Path) -> Known:
    """What a report of the class has to know beside what was graded: people, and what came and cannot be graded."""
    lessons = lessons_with_source(root, [])
    coming = frozenset(line.key for _, left in broken_off(root) for line in left)
    handed_in = {*coming, *(one.key for one in take_in(course, root, lessons).submissions)}
    return Known(
        _on_roster(root),
        late_by_word(root),
        {one.key: str(one) for one in useless(root, handed_in)},
        tuple(undecided(root, handed_in)),
        coming,
    )


def late_by_word(root: Path) -> frozenset[Key]:
    """(learner, lesson) of what an LMS calls late without saying when it came, and lies in ``submitted/`` now."""
    # What came by mail or in a folder as well takes no word of an LMS away; what a person chose keeps it.
    said = (line for line in lines_in(root) if all(line.key) and (line.system or line.by_hand))
    told = {(line.key, line.sha256): line.late and line.time is None for line in said}
    late = {key for (key, _), is_late in told.items() if is_late}
    dated = {key for key in late if (places(root).folder("submitted", *key) / "timestamp.txt").exists()}
    return frozenset(key for key in late - dated if told.get((key, digest_in(root, *key))))


def useless(root: Path, handed_in: Collection[Key]) -> tuple[Useless, ...]:
    """For each learner and lesson that ``handed_in`` lacks: the last file that the learner handed in for that lesson."""
    found: dict[Key, Useless] = {}
    there = {learner for learner, _ in handed_in}
    for line, key in meant_in(root):
        if not line.learner or line.status in NEEDS_NOBODY or key in handed_in:
            continue
        # Without a lesson waits what came with a notebook that waits.
        if key[1] or (line.learner not in there and line.status != "waits"):
            why = f"{line.status}, {line.why}" if line.status != "no notebook" and line.why else line.status
            found[key] = Useless(
                *key, printable(line.name.rsplit("/", 1)[-1][:120]), why[:200], line.status, line.sha256
            )
    return tuple(one for _, one in sorted(found.items()))


def undecided(root: Path, keys: Collection[Key]) -> dict[Key, tuple[str, ...]]:
    """(learner, lesson) -> its copies, if one that is not in ``submitted/`` may be the last, until a person names one."""
    waiting: dict[Key, dict[str, str]] = defaultdict(dict)
    known: dict[tuple[Key, str], str] = {}
    for line in lines_in(root):
        if line.by_hand and line.status in STANDS:
            waiting.pop(line.key, None)
        if line.kept:
            known[line.key, line.sha256] = line.place
        if line.kept and line.status == "waits" and line.key in keys:
            waiting[line.key][line.sha256] = line.place
    found = {}
    for key, copies in sorted(waiting.items()):
        graded = digest_in(root, *key)
        if graded not in copies:
            first = [known[key, graded]] if (key, graded) in known else []
            found[key] = (*first, *copies.values())
    return found
