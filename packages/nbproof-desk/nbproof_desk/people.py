"""The class by name: who needs a word and about what, and all that one learner has.

All of it is what the commands ``report``, ``roster`` and ``settle`` read; nothing is kept here.
"""

from __future__ import annotations

import io
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from nbproof.course_file import Course
from nbproof.csv_text import csv_of
from nbproof.feedback.page import digest_in, page_of
from nbproof.feedback.page_writer import Task, page_path
from nbproof.feedback.pages import task_of
from nbproof.gradebook.marks import ClassLesson, ClassResults, Mark, Person
from nbproof.gradebook.reader import read_marks
from nbproof.key import Key
from nbproof.report.attendance import NothingGradable, missing_in
from nbproof.report.records import outdated, read_class
from nbproof.run.intake import GONE, take_in
from nbproof.run.journal import problems_of
from nbproof.text import counted
from nbproof.values.results import Status
from nbproof.values.words import words_of
from nbproof_lms.attendance import astray_lines, background_of, choice, nothing_gradable_in, undecided
from nbproof_lms.grade_files import zeros
from nbproof_lms.handback import MAIL_TABLE, email_of
from nbproof_lms.settling import run_settle, seen_in, without_place

__all__ = ["ClassNow", "Why", "Word", "mail_table", "on_pages", "page_now", "settle"]


class Why(StrEnum):
    """Why somebody needs a word."""

    MISSING = "Nothing handed in"
    UNGRADED = "Cannot be graded"
    LOST = "Answers are missing"
    COPIES = "Two copies, and nothing says which one counts"
    WAITS = "Waits for marks"


@dataclass(frozen=True)
class Word:
    """Somebody who needs a word about one lesson, which is empty if nobody knows it. ``said``: what is the matter."""

    person: Person
    lesson: str
    why: Why
    said: str
    learner: str = ""
    """The id that the work lies under."""
    page: str = ""
    """The path of the learner's page in ``feedback/``; empty if there is none."""
    counts: bool = False
    """Whether grade files have a 0 for it already."""
    commands: Sequence[str] = ()
    """What to run when they have answered, if a command is wanted."""

    @property
    def key(self) -> Key:
        """The learner and the lesson."""
        return Key(self.learner or self.person.id, self.lesson)

    @property
    def can_be_settled(self) -> bool:
        """Whether a person can say that it was seen: nobody can say that of what never came."""
        return self.why in (Why.UNGRADED, Why.LOST)


@dataclass(frozen=True)
class ClassNow:
    """The class as it is now. ``others``: what came and cannot be graded; ``seen``: what was settled -> whether it was left
    open; ``copies``: the copies of which one may be the last."""

    root: Path
    results: ClassResults
    others: tuple[NothingGradable, ...]
    seen: Mapping[Key, bool]
    copies: Mapping[Key, Sequence[str]]

    @classmethod
    def read(cls, course: Course, root: Path) -> ClassNow:
        """Read all of it. Raises CourseError."""
        known = background_of(course, root)
        results = read_class(course, root, [], background=known)
        others = nothing_gradable_in(root, results.marks.keys() - known.problems.keys())
        seen = seen_in(root, results.marks, others)
        return cls(root, results, others, seen, undecided(root, set(known.waiting)))

    @cached_property
    def _firsts(self) -> dict[str, str]:
        """Every id of the class -> the first id of the same person."""
        known = {one.id for one in self.results.people}
        return {one.id: min(one.ids & known) for one in self.results.people}

    @cached_property
    def people(self) -> dict[str, Person]:
        """Everybody, once, by their first id."""
        return {one.id: one for one in self.results.people if self._firsts[one.id] == one.id}

    def person(self, learner: str) -> Person | None:
        """The person with this id; None if nobody has it."""
        return self.people.get(self._firsts.get(learner, ""))

    def marks_of(self, person: Person) -> list[Mark]:
        """All that one person has a mark or a problem for, lesson by lesson."""
        mine = (one for key, one in self.results.marks.items() if key.learner in person.ids)
        return sorted(mine, key=lambda one: (one.lesson, one.learner))

    @cached_property
    def zeros(self) -> tuple[Mapping[Key, Mark], Sequence[str]]:
        """What counts 0 in grade files, and lines on everybody who has no grade."""
        return zeros(self.results, [], self.seen, [one.key for one in self.others])

    def lines(self) -> list[str]:
        """What a person should know before anybody is written to."""
        astray = astray_lines(without_place(self.root, self.others), self.root)
        return [*outdated(self.results), *self.results.notes, *astray]

    def words(self) -> list[Word]:
        """Everybody who needs a word, by reason, then by lesson and id."""
        found = [*self._missing(), *self._ungraded(), *self._in_part(), *self._copies()]
        order = list(Why)
        return sorted(found, key=lambda one: (order.index(one.why), one.lesson, one.person.id))

    def _missing(self) -> Iterator[Word]:
        """Those who handed in nothing. Nothing is missing before it is due, or while an extension runs."""
        came = {key for key, one in self.results.marks.items() if not one.absent} | {one.key for one in self.others}
        lessons = {one.slug: one for one in self.results.lessons}
        for lesson, learners in missing_in([*lessons], self.people, came).items():
            for person in map(self.people.__getitem__, learners):
                has_time = not self.results.more_time.isdisjoint(Key(one, lesson) for one in person.ids)
                if not (lessons[lesson].is_open or has_time):
                    yield self._word(person, lesson, Why.MISSING, _due(lessons[lesson]))

    def _ungraded(self) -> Iterator[Word]:
        """Those with something that cannot be graded."""
        for one in self.results.ungraded():
            if not (one.behind or one.key in self.seen):
                yield self._word(self.person(one.learner), one.lesson, Why.UNGRADED, one.problem, one.learner)
        for other in self.others:
            if not other.lesson and other.key not in self.seen:
                yield self._word(self.person(other.learner), "", Why.UNGRADED, str(other), other.learner)

    def _in_part(self) -> Iterator[Word]:
        """Those with answers that are gone, and those with answers that wait for a person."""
        words = words_of(self.results.course)
        for one in self.results.marks.values():
            if one.problem or one.behind or one.absent:
                continue
            person, missing = self.person(one.learner), one.missing(words)
            if one.key in self.seen:
                missing = {}
            unsure = {other.id for other in one.verdict.exercises if other.status is Status.UNCERTAIN}
            lost = [f"{name}: {why}" for name, why in missing.items() if name not in unsure]
            if lost:
                yield self._word(person, one.lesson, Why.LOST, "; ".join(lost), one.learner)
            if waits := one.waiting + len(unsure & missing.keys()):
                yield self._word(person, one.lesson, Why.WAITS, counted(waits, "answer"), one.learner)

    def _copies(self) -> Iterator[Word]:
        """Those with several copies."""
        for key, copies in self.copies.items():
            said = "what lies in submitted/, if anything does, is graded meanwhile"
            commands = [choice(self.root, one, *key) for one in copies]
            yield self._word(self.person(key.learner), key.lesson, Why.COPIES, said, key.learner, commands)

    def _word(
        self,
        person: Person | None,
        lesson: str,
        why: Why,
        said: str,
        learner: str = "",
        commands: Sequence[str] = (),
    ) -> Word:
        who = person or Person(learner)
        keys = {Key(one, Key(one, lesson).assignment) for one in who.ids}
        page = ""
        if lesson and (path := page_path(self.root, learner or who.id, lesson)).is_file():
            page = str(path.absolute())
        return Word(who, lesson, why, said, learner, page, not keys.isdisjoint(self.zeros[0]), commands)


def _due(lesson: ClassLesson) -> str:
    return f"due {lesson.due}" if lesson.due else "no due date"


def mail_table(words: Iterable[Word]) -> bytes:
    """A table that mail-merge programs take: the columns of `feedback --for folder`, then why, in a word and in a sentence."""
    rows: list[Sequence[object]] = [(*MAIL_TABLE, "what", "why")]
    for one in words:
        who = one.person
        names = (who.id, who.name, who.first_name, who.last_name, email_of(who))
        rows.append((*names, one.lesson, one.page, one.why.name.lower(), one.said))
    return csv_of(rows)


def settle(course: Course, root: Path, key: Key, how: str) -> str:
    """Do what the command `settle` does; what it says. ``how``: ``zero``, ``open`` or ``undo``. Raises CourseError."""
    said = io.StringIO()
    with redirect_stdout(said):
        run_settle(Namespace(course=root, works_for=course, names=[key.name], how=how))
    return said.getvalue()


def _tasks(course: Course, root: Path, keys: Collection[Key]) -> dict[Key, Task]:
    """The tasks to write these pages, as the command `feedback` would do it now."""
    problems = {key: one.problem for key, one in problems_of(root).items()}
    several = sorted({key.lesson for key in keys if "/" in key.lesson})
    if several:
        problems = dict.fromkeys(take_in(course, root, several).absent, GONE) | problems
    marks = read_marks(root, {key.lesson for key in keys}, {key.learner for key in keys})
    return {key: task_of(course, root, key, marks.get(key), problems.get(key, "")) for key in keys}


def page_now(course: Course, root: Path, key: Key) -> str:
    """A learner's page as they will see it, as HTML. Nothing is written. Raises CourseError if nothing was graded."""
    return page_of(course, root, _tasks(course, root, [key])[key])


def on_pages(course: Course, root: Path, keys: Collection[Key]) -> dict[Key, bool]:
    """Key -> whether the page in ``feedback/`` says all that stands in the gradebook now; without keys that have no page."""
    made = [key for key in keys if page_path(root, *key).is_file()]
    tasks = _tasks(course, root, made)
    return {key: digest_in(page_path(root, *key)) == tasks[key].digest for key in made}
