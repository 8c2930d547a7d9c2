"""The results of a class: one mark for each submission, the people, the lessons. Report, feedback and tables read these."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, TypeVar

from nbproof.course_file import Course
from nbproof.errors import CourseError
from nbproof.grouping import grouped, merged
from nbproof.key import Key, assignment_of, notebook_of
from nbproof.marking.results import Verdict
from nbproof.text import printable
from nbproof.values.results import Outcome, Status
from nbproof.values.words import Language

__all__ = [
    "CellMark",
    "ClassLesson",
    "ClassResults",
    "GradedClass",
    "Lateness",
    "Mark",
    "Person",
    "by_assignment",
    "exercise_row",
    "join_marks",
    "lacks",
    "submission_row",
]

T = TypeVar("T")


@dataclass(frozen=True)
class CellMark:
    """One graded cell of one submission, as nbgrader keeps it."""

    name: str
    max_score: float
    auto: float | None = None
    """The marks that tests gave; None if only a person gives marks."""
    given: float | None = None
    """The marks that a person gave; None if nobody has."""
    extra: float = 0.0
    waits_for_person: bool = False
    """Whether formgrader lists it for a person, also if one has marked it before."""
    by_hand: bool = False
    """Whether only a person can mark it."""

    @property
    def by_person(self) -> bool:
        """Whether a person gave marks, or extra credit."""
        return self.given is not None or self.extra != 0.0

    @property
    def base(self) -> float | None:
        """Its marks without extra credit: a person's, or else those of tests; None if nobody gave any."""
        return self.auto if self.given is None else self.given

    @property
    def is_odd(self) -> bool:
        """Whether a person gave more than there is to give, or takes points away. It counts, and may be a slip."""
        given = self.given or 0.0
        return given > self.max_score or min(given, self.extra) < 0

    @property
    def score(self) -> float:
        """Its marks, as nbgrader counts them: extra credit counts nothing without another mark."""
        return 0.0 if self.base is None else self.base + self.extra


@dataclass(frozen=True)
class Lateness:
    """The times when a submission came and was due, in UTC, and how late that is."""

    seconds: float = 0.0
    """As nbgrader counts them. If only an LMS says that it was late, 1 if it was due and not extended, else 0."""
    said: bool = False
    """Whether an LMS calls it late, and does not say when it came."""
    handed_in: datetime | None = None
    due: datetime | None = None
    """The due date of this learner."""
    extended: bool = False
    """Whether this learner's due date is later than that of the class."""


@dataclass(frozen=True)
class Mark:
    """One submission: its verdict, the marks that people gave, and the penalty for being late."""

    verdict: Verdict
    """In short. If it is not graded, this has the reason; if only the gradebook knows of it, it has no exercises."""
    max_score: float = 0.0
    cells: Mapping[str, CellMark] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    """Cell -> the comment of a person."""
    penalty: float = 0.0
    """Points that are taken off for being late."""
    late: Lateness = Lateness()
    fresh: bool = True
    """Whether this run marked it; True if no run was asked about it."""
    behind: str = ""
    """Why this is not up to date with what was handed in last, or with the last run; empty if it is."""
    earlier: float = 0.0
    """Marks that the gradebook still has of an earlier hand-in, if the last one cannot be graded, and no person gave any."""
    absent: bool = False
    """Whether it was not handed in, and counts 0, because another notebook of its assignment was."""

    @property
    def learner(self) -> str:
        """The id of the learner who handed it in."""
        return self.verdict.learner

    @property
    def lesson(self) -> str:
        """The lesson that it is for."""
        return self.verdict.lesson

    @property
    def key(self) -> Key:
        """The learner and the lesson."""
        return Key(self.learner, self.lesson)

    @property
    def problem(self) -> str:
        """Why it is not graded; empty if it is."""
        return self.verdict.problem

    @property
    def by_person(self) -> bool:
        """Whether a person gave marks: these count until a person takes them away, also if something else is handed in."""
        return any(cell.by_person and cell.base is not None for cell in self.cells.values())

    @property
    def is_marked(self) -> bool:
        """Whether tests or people gave marks for any cell of it."""
        return any(cell.base is not None for cell in self.cells.values())

    @property
    def unmarked(self) -> bool:
        """Whether it has no mark: it is not graded, and no person has marked it."""
        return bool(self.problem) and not self.by_person

    @property
    def how(self) -> Literal["graded", "unchanged", "not graded", "nothing"]:
        """``unchanged``: nothing ran; ``nothing``: it was not handed in."""
        if self.absent:
            return "nothing"
        if self.problem:
            return "not graded"
        return "graded" if self.fresh else "unchanged"

    @property
    def score(self) -> float:
        """Its marks, with those given by hand, less the late penalty, as nbgrader exports it.

        Less than 0 counts as 0, but not for one notebook of several, because their sum counts.
        """
        return self.counted(sum(cell.score for cell in self.cells.values()))

    def counted(self, points: float) -> float:
        """These points less the late penalty."""
        score = points - self.penalty
        return score if "/" in self.lesson else max(0.0, score)

    @property
    def share(self) -> float:
        """The score divided by the maximum, 0 to 1."""
        return self.score / self.max_score if self.max_score else 0.0

    @property
    def waiting_points(self) -> float:
        """The points of written answers that nobody has marked yet."""
        waiting = (cell for cell in self.cells.values() if cell.waits_for_person and cell.by_hand)
        return sum(cell.max_score for cell in waiting if cell.base is None)

    @property
    def waiting(self) -> int:
        """The number of written answers that wait for a person: nobody has marked them, or they have changed since."""
        return sum(cell.waits_for_person and cell.by_hand for cell in self.cells.values())

    @property
    def pending(self) -> bool:
        """Whether there is anything that a person has to look at."""
        return any(cell.waits_for_person for cell in self.cells.values())

    @property
    def is_late(self) -> bool:
        """Whether it came after it was due, by the times or by the LMS's word."""
        return self.late.seconds > 0 or self.late.said or self.penalty > 0

    @property
    def is_mended(self) -> bool:
        """Whether the file was damaged, or an answer stood elsewhere."""
        return bool(self.verdict.recovered or self.verdict.damage)

    @property
    def settled(self) -> frozenset[str]:
        """The exercises in which a person has given the marks of every test cell."""
        given = {name for name, cell in self.cells.items() if cell.given is not None}
        return frozenset(one.id for one in self.verdict.exercises if one.most.keys() <= given)

    def missing(self, words: Language) -> dict[str, str]:
        """Exercises without marks that no person has settled -> why there is no answer, or none that can be marked."""
        reasons = {one.id: words.outcome(one) for one in self.verdict.exercises if one.status is Status.UNCERTAIN}
        reasons |= self.verdict.lost
        return {name: why for name, why in reasons.items() if name not in self.settled}


def lacks(held: Mark | None, verdict: Verdict | None) -> bool:
    """Whether a score of the verdict has not arrived in the gradebook. nbgrader commits a new submission before its scores."""
    if held is None or verdict is None:
        return verdict is not None
    return any(held.cells[name].auto != score for name, score in verdict.scores.items() if name in held.cells)


def join_marks(
    verdicts: Mapping[Key, Verdict],
    held: Mapping[Key, Mark],
    late: Collection[Key] = (),
    fresh: Collection[Key] | None = None,
    most: Mapping[str, float] | None = None,
) -> dict[Key, Mark]:
    """The marks of these submissions, ordered by learner and lesson: each verdict, with what the gradebook has of it.

    ``held``: the marks in the gradebook. ``late``: submissions that an LMS calls late. ``fresh``: those that this run marked
    (None: all). ``most``: the points of each lesson, for submissions that are not graded. A verdict that is not in the gradebook
    has the marks that tests gave.
    """
    most = most or {}
    made = {}
    for key, verdict in sorted(verdicts.items()):
        mark = held.get(key)
        if mark is None:
            mark = _from_tests(verdict)
        elif verdict.problem and not mark.by_person:
            mark = replace(_from_tests(verdict), earlier=mark.score)
        made[key] = replace(
            mark,
            verdict=verdict.in_short(),
            max_score=mark.max_score or most.get(verdict.lesson, 0.0),
            late=replace(mark.late, said=key in late),
            fresh=fresh is None or key in fresh,
        )
    return made


def by_assignment(marks: Mapping[Key, Mark]) -> dict[Key, Mark]:
    """The marks by assignment: those of an assignment with several notebooks are added up.

    A notebook that cannot be graded counts nothing; if none can be graded, the assignment cannot be graded.
    """
    found = grouped((Key(learner, assignment_of(lesson)), mark) for (learner, lesson), mark in marks.items())
    return {key: _added_up(key, several) for key, several in sorted(found.items())}


def _added_up(key: Key, several: list[Mark]) -> Mark:
    """The mark of an assignment, from those of its notebooks."""
    first = several[0]
    if "/" not in first.lesson:
        return first
    return replace(
        max(several, key=lambda one: one.late.seconds),
        verdict=_joined(key, [one.verdict for one in several]),
        max_score=sum(one.max_score for one in several),
        cells=merged(_under(one.lesson, one.cells) for one in several),
        penalty=sum(one.penalty for one in several),
        earlier=sum(one.earlier for one in several),
        fresh=any(one.fresh for one in several),
        behind=next(filter(None, (one.behind for one in several)), ""),
    )


def _joined(key: Key, verdicts: list[Verdict]) -> Verdict:
    """The verdict on an assignment, without exercises, from those on its notebooks."""
    recovered = merged(_under(one.lesson, one.recovered) for one in verdicts)
    problems = [f"{notebook_of(one.lesson)}: {one.problem}" for one in verdicts if one.problem]
    if len(problems) < len(verdicts):
        problems = []
    damage = "; ".join(filter(None, (one.damage for one in verdicts)))
    return replace(Verdict(*key), problem="; ".join(problems), damage=damage, recovered=recovered)


def _under(lesson: str, values: Mapping[str, T]) -> dict[str, T]:
    """What cells of a notebook have, under the names that the cells have in their assignment: ``notebook/cell``."""
    return {f"{notebook_of(lesson)}/{name}": value for name, value in values.items()}


def _from_tests(verdict: Verdict) -> Mark:
    """The mark that tests gave."""
    cells: list[CellMark] = []
    for one in verdict.exercises:
        cells += [CellMark(part, most, one.points[part]) for part, most in one.most.items()]
    cells += [CellMark(one.id, one.max_score, waits_for_person=one.answered, by_hand=True) for one in verdict.written]
    return Mark(verdict, sum(cell.max_score for cell in cells), {cell.name: cell for cell in cells})


def submission_row(mark: Mark, words: Language) -> dict[str, Any]:
    """One submission, without its exercises, for JSON and CSV: ``docs/grade_json.md`` lists the fields."""
    score = None if mark.unmarked else mark.score
    return {
        "learner": mark.learner,
        "lesson": mark.lesson,
        "how": mark.how,
        "problem": mark.problem or None,
        "score": score,
        "max_score": mark.max_score,
        "late_penalty": mark.penalty,
        "late": mark.is_late,
        "seconds_late": mark.late.seconds,
        "only_said_late": mark.late.said,
        "extended": mark.late.extended,
        "waiting_for_marks": mark.waiting,
        "recovered": mark.verdict.recovered,
        "lost": mark.missing(words),
        "damage": mark.verdict.damage or None,
        "seed": mark.verdict.seed,
    }


def exercise_row(one: Outcome, words: Language) -> dict[str, Any]:
    """One exercise of a submission, for JSON: ``docs/grade_json.md`` lists the fields."""
    return {
        "id": one.id,
        "status": one.status,
        "score": one.score,
        "max_score": one.max_score,
        "sentence": words.outcome(one),
        "hint": one.hint,
        "seconds": one.seconds,
    }


@dataclass(frozen=True)
class ClassLesson:
    """A lesson that somebody handed in."""

    slug: str
    title: str
    max_score: float
    due: str = ""
    is_open: bool = False
    """Whether it is not due yet."""


@dataclass(frozen=True)
class Person:
    """A learner. ``id`` is the folder's name in ``submitted/``; the rest is what roster and gradebook know."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""
    full_name: str = ""
    """The name if nobody has said which part of it is the first and which the last; these are empty then."""
    also: frozenset[str] = field(default=frozenset(), kw_only=True)
    """Other ids of the learner, on the roster or as a folder; the number of an LMS is written ``number 501``."""

    @property
    def ids(self) -> frozenset[str]:
        """All names that the learner's work may lie under."""
        return self.also | {self.id}

    @property
    def name(self) -> str:
        """The whole name, as far as it is known."""
        return self.full_name or " ".join(part for part in (self.first_name, self.last_name) if part)

    @property
    def called(self) -> str:
        """The id for people, with the name in brackets if that is another word."""
        return f"{self.id} ({self.name})" if self.name and self.name != self.id else self.id

    @property
    def contact(self) -> str:
        """Id, name and address, as far as these are known: ``0001023 Anna Schmidt <anna@u.edu>``."""
        parts = [self.id]
        if self.name != self.id:
            parts.append(self.name)
        if self.email and self.email != self.id:
            parts.append(f"<{self.email}>")
        return printable(" ".join(filter(None, parts)))


@dataclass(frozen=True)
class ClassResults:
    """A class: its marks, ordered by learner and lesson; its people, ordered by id; and its lessons in order."""

    course: Course
    marks: Mapping[Key, Mark]
    people: tuple[Person, ...] = ()
    lessons: tuple[ClassLesson, ...] = ()
    notes: tuple[str, ...] = ()
    """Other sentences for a person."""
    unreadable: tuple[CourseError, ...] = ()
    """An error for each verdict that is damaged."""
    more_time: frozenset[Key] = frozenset()
    """The keys of extensions that have not ended: their work is not missing yet."""
    without_gradebook: tuple[CourseError, ...] = ()
    """The error, if the gradebook could not be read: then there are no marks given by hand and no late penalties."""
    of_before: tuple[str, ...] = ()
    """Lines on what has changed since these were graded, or was not graded to its end."""
    silent: frozenset[str] = frozenset()
    """Learners who handed in nothing but files of no known lesson: these may be for any."""

    @property
    def graded(self) -> tuple[Key, ...]:
        """The keys that this run graded."""
        return tuple(key for key, one in self.marks.items() if one.how == "graded")

    def of_lesson(self, slug: str) -> list[Mark]:
        """The submissions of a lesson that have marks, ordered by learner."""
        return [one for one in self.marks.values() if one.lesson == slug and not (one.unmarked or one.absent)]

    def ungraded(self) -> list[Mark]:
        """The submissions that could not be graded."""
        return [one for one in self.marks.values() if one.problem]


@dataclass(frozen=True)
class GradedClass(ClassResults):
    """The results of a class as a run has graded them, or found them unchanged."""

    seed: int = 0
    gradebook: str = ""
    reasons: tuple[str, ...] = ()
    """Sentences on what was graded again, and why."""
    plain_tests: Mapping[str, int] = field(default_factory=dict)
    """Lesson -> how many of its test cells run beside the learner's code, for lessons that this run marked work of."""
    unfit: Mapping[str, str] = field(default_factory=dict)
    """Lesson -> why its reference answers lose marks here."""
    anyway: bool = False
    """Whether these lessons were graded in spite of that."""
    given_away: Mapping[str, str] = field(default_factory=dict)
    """Lesson -> the cells that give marks to a notebook that nobody has touched."""
    remarks: tuple[str, ...] = ()
    """Sentences on learners' files that are not beside their graded notebooks, and on fewer marks for a new hand-in."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Lesson -> why nothing of it can be graded here, by any command."""
