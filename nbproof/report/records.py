"""Read the results of a class from the disk: verdicts, the gradebook's marks, what could not be graded.

Reading never fails because of one submission: a record that cannot be read is that submission's problem. Nothing is written.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.display.outline import title_of
from nbproof.errors import CourseError, UsageError
from nbproof.gradebook.marks import ClassLesson, ClassResults, Mark, Person, join_marks, lacks
from nbproof.gradebook.reader import (
    DueDates,
    due_dates_in,
    is_another,
    left_behind,
    lessons_in,
    marks_in,
    opened_gradebook,
    people_in,
)
from nbproof.gradebook.receipts import TIME, readable_time_in
from nbproof.grouping import grouped
from nbproof.key import Key, assignment_of
from nbproof.limits import GradingLimits
from nbproof.marking.results import Verdict
from nbproof.places import course_config, places
from nbproof.recover.notebook_bytes import HandIn
from nbproof.report.statistics import some
from nbproof.run.digests import LessonState
from nbproof.run.intake import GONE, gradable_lessons, handed_in_digest, take_in, unread_times
from nbproof.run.journal import RunState, journal_of, journalled_verdict, problems_of
from nbproof.text import in_utc, some_of

__all__ = ["ClassBackground", "everybody", "joined", "outdated", "read_class", "up_to_date", "withdrawn"]


@dataclass(frozen=True)
class ClassBackground:
    """The people of a class, and what came that is not graded: all that a report needs beside what was graded."""

    people: Callable[[Collection[str]], Iterable[Person]] = lambda ids: ()
    """Everybody on the roster, under those of these ids that are theirs."""
    late: frozenset[Key] = frozenset()
    """Keys of work that an LMS calls late without saying when it came."""
    problems: Mapping[Key, str] = field(default_factory=dict)
    """Key -> why nothing of it can be graded. The lesson is empty if nothing says which lesson it was for."""
    waiting: tuple[Key, ...] = ()
    """Keys with a copy that may be later than the one that counts."""
    coming: frozenset[Key] = frozenset()
    """Keys of work that came, and does not lie in submitted/ yet."""


def read_class(
    course: Course,
    root: Path,
    names: list[str],
    step: Callable[[int, int, str], None] = lambda done, of, name: None,
    background: ClassBackground | None = None,
) -> ClassResults:
    """The results that grading has left behind for these lessons; for all of them without ``names``.

    ``step``: called for each verdict that is read. Raises UsageError if nothing was handed in.
    """
    background = background or ClassBackground()
    lessons = gradable_lessons(root, names)
    intake = take_in(course, root, lessons)
    handed_in = {one.key: one for one in intake.submissions}
    digests = _digests(root, handed_in)
    refused = _refused(root, handed_in, background, lessons, digests)
    journalled, damaged = _journalled(root, lessons, step)
    book = _read_gradebook(course, root, lessons, {*journalled})
    coming = {key for key in background.coming if key.lesson in lessons}
    verdicts = {key: Verdict(*key, problem="not graded yet") for key in (*handed_in, *coming)}
    verdicts |= _in_gradebook(book, handed_in) | journalled
    # A file that is in submitted/ now and cannot be graded counts, even if an earlier one was graded there.
    marks = join_marks(verdicts | refused, book.marks, background.late)
    marks |= {
        key: replace(marks[key], behind=_why_behind(root, journalled.get(key), book, key, digests[key]))
        for key in handed_in.keys() - refused.keys()
    }
    marks |= {key: replace(marks[key], behind=_NOT_GRADED) for key in coming}
    marks |= {key: _as_absent(marks[key]) for key in marks.keys() & {*intake.absent} - refused.keys() - coming}
    if not marks:
        raise UsageError(
            f"nothing was handed in for {', '.join(names) or 'any lesson'}",
            str(places(root).base("submitted").resolve()),
            f"{course_command('collect UPLOAD')}; then: {course_command('grade')}",
        )
    silent = frozenset(learner for learner, lesson in background.problems if not lesson)
    return ClassResults(
        course,
        marks,
        everybody(background.people, book.people, {*silent, *(learner for learner, _ in marks)}),
        _lessons(course, marks, book.lessons),
        (
            *intake.notes,
            *unread_times(root, intake),
            *book.notes,
            *_notes(root, background, lessons),
        ),
        tuple(one for key, one in damaged.items() if key not in refused),
        book.more_time,
        book.without_gradebook,
        tuple(_of_before(course, root, journalled)),
        silent,
    )


def _as_absent(mark: Mark) -> Mark:
    """The mark of a notebook that was not handed in, though another one of its assignment was: it is not late. A person's marks
    still count."""
    if mark.by_person:
        return replace(mark, verdict=Verdict(*mark.key, problem=GONE))
    return replace(mark, verdict=Verdict(*mark.key), absent=True, late=replace(mark.late, seconds=0.0, said=False))


_NOT_GRADED = "handed in, and not graded yet"
_OTHER_MARKS = "the gradebook has not what the last run found; if it is an older one, it lacks what people gave since"
_ANOTHER = "the gradebook is not the one that the last command left, but an older one, or one of another folder"
_OTHER_TIME = "timestamp.txt tells another time of the hand-in than the gradebook"


def _why_behind(root: Path, kept: Verdict | None, book: ClassResults, key: Key, digest: str) -> str:
    """A sentence if a mark is not up to date; else empty. ``kept``: the last run's verdict; ``digest``: of what is there now."""
    have = book.marks.get(key)
    if not (kept or have) or (kept and kept.handed_in not in ("", digest)):
        return _NOT_GRADED
    if book.without_gradebook:
        return ""
    if have is None or lacks(have, kept):
        return _OTHER_MARKS
    came = readable_time_in(places(root).folder("submitted", *key) / TIME, places(root).zone)
    before = have.late.handed_in
    # The gradebook may leave parts of a second out.
    is_same = came is None or (before and before.replace(microsecond=0, tzinfo=UTC) == came.replace(microsecond=0))
    return "" if is_same else _OTHER_TIME


def _in_gradebook(book: ClassResults, handed_in: Collection[Key]) -> dict[Key, Verdict]:
    """The verdicts that the gradebook knows of. A row for work that nobody handed in, and nobody marked, is no 0."""
    return {key: one.verdict for key, one in book.marks.items() if key in handed_in or one.is_marked}


def withdrawn(root: Path, marks: Iterable[Mark]) -> list[str]:
    """Lines on marks without work in submitted/ that can be graded, one for each assignment: learners, marks, and how to take
    one away. Marks that people gave have lines of their own."""
    asked = sorted((one for one in marks if _without_work(root, one)), key=lambda one: one.key)
    lines = []
    for (name, is_given), several in grouped(((one.key.assignment, one.by_person), one) for one in asked).items():
        what, stays = _GIVEN_STAYS if is_given else _STAYS
        learners = some([f"{one.learner} ({one.earlier or one.score:g})" for one in several])
        then = course_command(shlex.join(["roster", "remove", several[0].learner, "--lesson", name]), root)
        lines.append(f"{what}, and nothing in submitted/ that can be graded: {name}: {learners}; {stays}: {then}")
    return lines


def _without_work(root: Path, one: Mark) -> bool:
    """Whether nothing lies in submitted/ that can be graded and that this mark is for."""
    if one.problem:
        return one.by_person or one.earlier > 0
    return not os.path.lexists(places(root).folder("submitted", *one.key))


_STAYS = (
    "a mark",
    "it stays in the gradebook, and in files for an LMS if the folder is gone, until you take it away",
)
_GIVEN_STAYS = (
    "a mark that a person gave",
    "it counts everywhere, until you take it away with all else that people gave for it",
)


def _lessons(course: Course, found: Mapping[Key, Mark], known: Iterable[ClassLesson]) -> tuple[ClassLesson, ...]:
    """The lessons of these marks, in order; ``known``: those that the gradebook describes."""
    # Of a lesson's marks the last one in this order counts, which has the most points.
    most = {mark.lesson: mark.max_score for mark in sorted(found.values(), key=lambda one: one.max_score)}
    described = {slug: ClassLesson(slug, _title(course, slug), points) for slug, points in most.items()}
    described |= {one.slug: one for one in known if one.slug in most}
    return tuple(described[slug] for slug in sorted(described))


def _title(course: Course, slug: str) -> str:
    return title_of(course, slug).replace("`", "")


def _refused(
    root: Path,
    handed_in: Mapping[Key, HandIn],
    background: ClassBackground,
    lessons: Collection[str],
    digests: Mapping[Key, str],
) -> dict[Key, Verdict]:
    """A verdict with the reason, for each submission that cannot be graded."""
    found = {key: Verdict(*key, problem=one.problem) for key, one in handed_in.items() if one.problem}
    # A problem of an earlier file says nothing of one that came since.
    found |= {
        key: one
        for key, one in problems_of(root).items()
        if key in handed_in and one.handed_in in ("", digests.get(key))
    }
    return found | {
        key: Verdict(*key, problem=why) for key, why in background.problems.items() if key.lesson in lessons
    }


def _journalled(
    root: Path, lessons: Iterable[str], step: Callable[[int, int, str], None]
) -> tuple[dict[Key, Verdict], dict[Key, CourseError]]:
    """The verdicts of runs, and an error for each that cannot be read; that one has a verdict that says so."""
    here = places(root)
    known = set(lessons)
    there = itertools.chain.from_iterable(here.lessons_in(folder, known) for folder in here.handed_in("autograded"))
    keys = [key for key in there if key.learner.isprintable() and os.path.lexists(journal_of(root, *key))]
    found: dict[Key, Verdict] = {}
    damaged: dict[Key, CourseError] = {}
    for done, key in enumerate(keys, 1):
        step(done, len(keys), key.name)
        verdict = journalled_verdict(root, *key)
        if verdict is None:
            fact = f"the verdict on {key[0]}'s {key[1]} cannot be read"
            damaged[key] = CourseError(fact, str(journal_of(root, *key)), course_command("grade"))
            verdict = Verdict(*key, problem=f"its verdict cannot be read; {course_command('grade')}")
        found[key] = verdict.in_short()
    return found, damaged


def _digests(root: Path, handed_in: Mapping[Key, HandIn]) -> dict[Key, str]:
    """The digests of what lies in ``submitted/`` now, as a run notes them. Times of files do not count: in a copy of a course
    they are others."""
    limits = GradingLimits.read(course_config(root), places(root).lessons())
    secret = RunState(root).key
    return {
        key: handed_in_digest(one, secret, limits.for_lesson(key.lesson))
        for key, one in handed_in.items()
        if not one.problem
    }


def outdated(results: ClassResults, learners: Collection[str] = ()) -> list[str]:
    """Lines for a terminal on marks that are not up to date, why, and the next step; if learners are named, on theirs only."""
    asked = (one for one in results.marks.values() if one.behind and (not learners or one.learner in learners))
    found = grouped((one.behind, one.key.name) for one in asked)
    lines = [f"! {why}: {some_of(names, 8)}: marks and pages of before are held back" for why, names in found.items()]
    lines += [f"! {why}" for why in results.of_before]
    if lines:
        lines.append(f"  next: {course_command('grade')}")
    return lines


def up_to_date(results: ClassResults, keys: Iterable[Key]) -> list[Key]:
    """The keys of which a page can be written now. Raises CourseError if the gradebook could not be read."""
    for error in results.without_gradebook:
        raise error
    return [key for key in keys if key not in results.marks or not results.marks[key].behind]


def _of_before(course: Course, root: Path, journalled: Mapping[Key, Verdict]) -> Iterator[str]:
    """Lines on lessons that have changed since they were graded, and on a run that broke off."""
    config = course_config(root)
    limits = GradingLimits.read(config, places(root).lessons())
    graded_by = grouped((key.lesson, (one.source, one.shown)) for key, one in journalled.items() if one.source)
    for lesson, several in graded_by.items():
        state = LessonState.of(course, root, lesson, config, limits)
        with contextlib.suppress(CourseError, OSError):  # a lesson that cannot be read is the next run's trouble
            if count := len(several) - several.count((state.source, state.registered)):
                told = (
                    f"the lesson, its points, or what grades it, is another since {count} of {len(several)} were graded"
                )
                yield f"{lesson}: {told}"
    if RunState(root).is_unfinished:
        yield "the last run broke off: what it did not reach has the marks of before"


_MISSING = "marks that people gave and late penalties are not known without it"


def _read_gradebook(course: Course, root: Path, lessons: Collection[str], graded: Collection[Key]) -> ClassResults:
    """The results in the gradebook; with an error and without marks if it cannot be read, or holds nothing of ``graded``."""
    try:
        with opened_gradebook(root) as book:
            if book is None:
                return _without_gradebook(course, root, f"there is no gradebook: {_MISSING}")
            return _results_in(course, root, book, lessons, graded)
    except Exception as error:  # SQLAlchemy, its drivers, alembic: each has a tree of its own, and some print passwords
        fact = f"the gradebook cannot be read ({type(error).__name__}): {_MISSING}"
        return _without_gradebook(course, root, fact)


def _results_in(
    course: Course, root: Path, book: Any, lessons: Collection[str], graded: Collection[Key]
) -> ClassResults:
    """The results in an open gradebook."""
    known = lessons_in(book)
    names = [name for name in lessons if name in known]
    held = marks_in(book, *names)
    if graded and not held:
        return _without_gradebook(course, root, f"the gradebook holds nothing of what was graded: {_MISSING}")
    if is_another(book, RunState(root).gradebook):
        return _without_gradebook(course, root, f"{_ANOTHER}: what people gave since is not in it")
    dates = due_dates_in(book)
    described = [_described(course, name, known[name], dates.lessons.get(assignment_of(name))) for name in names]
    people = tuple(people_in(book))
    gone = tuple(left_behind(book, {*map(assignment_of, places(root).lessons())}))
    return ClassResults(course, held, people, tuple(described), gone, more_time=_more_time(dates, names))


def _described(course: Course, lesson: str, most: float, due: datetime | None) -> ClassLesson:
    """A lesson with its points and its due date."""
    if due is None:
        return ClassLesson(lesson, _title(course, lesson), most)
    return ClassLesson(lesson, _title(course, lesson), most, in_utc(due), due > datetime.now(UTC))


def _without_gradebook(course: Course, root: Path, fact: str) -> ClassResults:
    """Results with the error that there is nothing of the gradebook in them."""
    step = (
        f"put a copy of it back, if you have one; or: {course_command('grade', root)}, which makes one of what was graded, "
        "or says what to do; then the same command again"
    )
    return ClassResults(course, {}, notes=(f"{fact}; {step}",), without_gradebook=(CourseError(fact, str(root), step),))


def _more_time(dates: DueDates, lessons: Collection[str]) -> frozenset[Key]:
    """The submissions with an extension that has not ended."""
    now = datetime.now(UTC)
    extended = {key for key, until in dates.extensions.items() if until > now}
    pairs = itertools.product(extended, lessons)
    return frozenset(Key(key.learner, name) for key, name in pairs if assignment_of(name) == key.lesson)


def everybody(
    roster: Callable[[Collection[str]], Iterable[Person]], known: Iterable[Person], others: Iterable[str]
) -> tuple[Person, ...]:
    """All people of the class, ordered by id.

    ``roster``: as in :class:`ClassBackground`. ``known``: those in the gradebook. ``others``: ids of more learners.
    """
    people = {learner: Person(learner) for learner in others}
    people |= {one.id: one for one in known}
    people |= {one.id: joined(people.get(one.id, one), one) for one in roster(tuple(people))}
    return tuple(people[name] for name in sorted(people))


def joined(person: Person, member: Person) -> Person:
    """One person, from the gradebook (``person``) and the roster (``member``). The roster's name and address count.

    If the two names differ only in that the gradebook has first and last name apart, they stay apart.
    """
    is_same = sorted(person.name.casefold().split()) == sorted(member.name.casefold().split())
    if member.last_name or (member.full_name and not (is_same and person.first_name)):
        names = ("first_name", "last_name", "full_name")
        person = replace(person, **{name: getattr(member, name) for name in names})
    return replace(person, email=member.email or person.email, also=member.also)


def _notes(root: Path, background: ClassBackground, lessons: Collection[str]) -> list[str]:
    """Sentences on learners without anything that can be graded, and on copies that wait."""
    notes = [
        f"nothing that can be graded came from {key.learner}: {why}"
        for key, why in background.problems.items()
        if not key.lesson
    ]
    see = course_command("roster", root)
    return notes + [
        f"another copy of {key.learner}'s {key.lesson} may be the last, and waits for you: see {see}"
        for key in background.waiting
        if key.lesson in lessons
    ]
