"""What is known of a class: one mark for each submission, the people, the lessons. All that tells of a class reads this."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from nbproof.course_file import Course
from nbproof.errors import CourseError
from nbproof.grouping import grouped
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
    "lacks",
    "marks",
    "submission_row",
]


@dataclass(frozen=True)
class CellMark:
    """One graded cell of one submission, as nbgrader keeps it."""

    name: str
    max_score: float
    auto: float | None = None
    """What tests gave; None if only a person gives marks."""
    given: float | None = None
    """What a person gave; None if nobody has."""
    extra: float = 0.0
    listed: bool = False
    """Whether formgrader lists it for a person, also where one has marked it before."""
    by_hand: bool = False
    """Whether only a person can mark it."""

    @property
    def by_person(self) -> bool:
        """Whether a person gave marks, or extra credit."""
        return self.given is not None or self.extra != 0.0

    @property
    def base(self) -> float | None:
        """Its marks without extra credit, a person's before those of tests; None if nobody gave any."""
        return self.auto if self.given is None else self.given

    @property
    def is_odd(self) -> bool:
        """Whether a person gave more than there is to give, or takes points away. It counts, and may be a slip."""
        given = self.given or 0.0
        return given > self.max_score or min(given, self.extra) < 0

    @property
    def score(self) -> float:
        """Its marks, as nbgrader counts them: extra credit beside no other mark is nothing."""
        return 0.0 if self.base is None else self.base + self.extra


@dataclass(frozen=True)
class Lateness:
    """When a submission came and was due, in UTC, and how late that is."""

    seconds: float = 0.0
    """As nbgrader counts them. Where only an LMS's word tells of it, 1 if it was due and not extended, else 0."""
    said: bool = False
    """Whether an LMS calls it late, and does not say when it came."""
    handed_in: datetime | None = None
    due: datetime | None = None
    """The due date of this learner."""
    extended: bool = False
    """Whether this learner's due date is later than that of the class."""


@dataclass(frozen=True)
class Mark:
    """One submission: what was found, what people gave, what being late cost."""

    verdict: Verdict
    """In short; of what is not graded, the reason; one without exercises where only the gradebook knows of it."""
    max_score: float = 0.0
    cells: Mapping[str, CellMark] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    """Cell -> what a person wrote about it."""
    penalty: float = 0.0
    """For being late."""
    late: Lateness = Lateness()
    fresh: bool = True
    """Whether this run marked it; of what no run is asked about, True."""
    behind: str = ""
    """Why this is not up to date with what was handed in last, or with the last run; empty if it is."""
    earlier: float = 0.0
    """Marks that the gradebook still has of an earlier hand-in, where the last one cannot be graded, and no person gave any."""
    absent: bool = False
    """Whether it was not handed in, and counts 0, for another notebook of its assignment was."""

    @property
    def learner(self) -> str:
        """The id of the learner who handed it in."""
        return self.verdict.learner

    @property
    def lesson(self) -> str:
        """Of what."""
        return self.verdict.lesson

    @property
    def key(self) -> Key:
        """Both."""
        return Key(self.learner, self.lesson)

    @property
    def problem(self) -> str:
        """Why it is not graded; empty if it is."""
        return self.verdict.problem

    @property
    def by_person(self) -> bool:
        """Whether a person gave marks: these count, whatever was handed in, until a person takes them away."""
        return any(cell.by_person and cell.base is not None for cell in self.cells.values())

    @property
    def is_marked(self) -> bool:
        """Whether tests or people gave marks for any of it."""
        return any(cell.base is not None for cell in self.cells.values())

    @property
    def unmarked(self) -> bool:
        """Whether it has no mark: it is not graded, and no person has marked it."""
        return bool(self.problem) and not self.by_person

    @property
    def how(self) -> str:
        """``graded``; ``unchanged``: nothing ran; ``not graded``; ``nothing``: it was not handed in."""
        if self.absent:
            return "nothing"
        if self.problem:
            return "not graded"
        return "graded" if self.fresh else "unchanged"

    @property
    def score(self) -> float:
        """Its marks, those given by hand included, less the late penalty: as nbgrader exports it. Less than 0 counts as 0; of a
        notebook of several it counts, for their sum.
        """
        return self.counted(sum(cell.score for cell in self.cells.values()))

    def counted(self, points: float) -> float:
        """What these points are, less the late penalty."""
        score = points - self.penalty
        return score if "/" in self.lesson else max(0.0, score)

    @property
    def share(self) -> float:
        """Score by maximum, 0 to 1."""
        return self.score / self.max_score if self.max_score else 0.0

    @property
    def waiting_points(self) -> float:
        """The points of written answers that nobody has marked yet."""
        return sum(cell.max_score for cell in self.cells.values() if cell.listed and cell.by_hand and cell.base is None)

    @property
    def waiting(self) -> int:
        """Written answers that wait for a person: nobody has marked them, or they have changed since."""
        return sum(cell.listed and cell.by_hand for cell in self.cells.values())

    @property
    def pending(self) -> bool:
        """Whether there is anything that a person has to look at."""
        return any(cell.listed for cell in self.cells.values())

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
        """Exercises where a person has given the marks of every test cell."""
        given = {name for name, cell in self.cells.items() if cell.given is not None}
        return frozenset(one.id for one in self.verdict.exercises if one.most.keys() <= given)

    def missing(self, words: Language) -> dict[str, str]:
        """What has no marks, and nobody has looked at: exercise -> why there is no answer, or none that can be marked."""
        waits = {one.id: words.outcome(one) for one in self.verdict.exercises if one.status is Status.UNCERTAIN}
        return {name: why for name, why in {**waits, **self.verdict.lost}.items() if name not in self.settled}


def lacks(held: Mark | None, verdict: Verdict | None) -> bool:
    """Whether a score of the verdict has not arrived in the gradebook. nbgrader commits a new submission before its scores."""
    if held is None or verdict is None:
        return verdict is not None
    return any(held.cells[name].auto != score for name, score in verdict.scores.items() if name in held.cells)


def marks(
    verdicts: Mapping[Key, Verdict],
    held: Mapping[Key, Mark],
    late: Collection[Key] = (),
    fresh: Collection[Key] | None = None,
    most: Mapping[str, float] | None = None,
) -> dict[Key, Mark]:
    """The marks of these submissions, ordered by learner and lesson: each verdict, with what the gradebook holds of it.

    ``late``: submissions that an LMS calls late. ``fresh``: those that this run marked (None: all). ``most``: the points of
    each lesson, for submissions that are not graded. A verdict that the gradebook does not hold has the marks that tests gave.
    """
    made = {}
    for key, verdict in sorted(verdicts.items()):
        mark = held.get(key)
        if mark is None or (verdict.problem and not mark.by_person):
            mark = replace(_as_found(verdict), earlier=mark.score if mark else 0.0)
        known = replace(mark.late, said=key in late)
        points = mark.max_score or (most or {}).get(verdict.lesson, 0.0)
        made[key] = replace(
            mark, verdict=verdict.in_short(), max_score=points, late=known, fresh=fresh is None or key in fresh
        )
    return made


def by_assignment(marks: Mapping[Key, Mark]) -> dict[Key, Mark]:
    """The same, by what was handed in as one: the notebooks of an assignment that has several are added up.

    One that cannot be graded counts nothing; where none of them can, neither can the assignment.
    """
    found = grouped((Key(learner, assignment_of(lesson)), mark) for (learner, lesson), mark in marks.items())
    return {key: _added_up(key, several) for key, several in sorted(found.items())}


def _added_up(key: Key, several: list[Mark]) -> Mark:
    first = several[0]
    if "/" not in first.lesson:
        return first
    graded = [one for one in several if not one.problem]
    told = "; ".join(f"{notebook_of(one.lesson)}: {one.problem}" for one in several if one.problem)
    damage = [one.verdict.damage for one in several if one.verdict.damage]
    recovered = {
        f"{notebook_of(one.lesson)}/{name}": how for one in several for name, how in one.verdict.recovered.items()
    }
    verdict = replace(Verdict(*key), problem="" if graded else told, damage="; ".join(damage), recovered=recovered)
    cells = {f"{notebook_of(one.lesson)}/{name}": cell for one in several for name, cell in one.cells.items()}
    return replace(
        max(several, key=lambda one: one.late.seconds),
        verdict=verdict,
        max_score=sum(one.max_score for one in several),
        cells=cells,
        penalty=sum(one.penalty for one in several),
        earlier=sum(one.earlier for one in several),
        fresh=any(one.fresh for one in several),
        behind=next((one.behind for one in several if one.behind), ""),
    )


def _as_found(verdict: Verdict) -> Mark:
    cells = [CellMark(part, of, one.points[part]) for one in verdict.exercises for part, of in one.most.items()]
    cells += [CellMark(one.id, one.max_score, listed=one.answered, by_hand=True) for one in verdict.written]
    return Mark(verdict, sum(cell.max_score for cell in cells), {cell.name: cell for cell in cells})


def submission_row(mark: Mark, words: Language) -> dict[str, Any]:
    """One submission, without its exercises, for JSON and CSV: ``docs/grade_json.md`` tells the fields."""
    return {
        "learner": mark.learner,
        "lesson": mark.lesson,
        "how": mark.how,
        "problem": mark.problem or None,
        "score": None if mark.unmarked else mark.score,
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
    """One exercise of a submission, in the same way."""
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
    """The name where nobody has said which part of it is the first and which the last; they are empty then."""
    also: frozenset[str] = field(default=frozenset(), kw_only=True)
    """Other ids of theirs, on the roster or as a folder; the number of an LMS is written ``number 501``."""

    @property
    def ids(self) -> frozenset[str]:
        """All names that their work may lie under."""
        return self.also | {self.id}

    @property
    def name(self) -> str:
        """The whole name, as far as it is known."""
        return self.full_name or " ".join(part for part in (self.first_name, self.last_name) if part)

    @property
    def called(self) -> str:
        """For a person's eyes: the id, and the name where that is another word."""
        return f"{self.id} ({self.name})" if self.name and self.name != self.id else self.id

    @property
    def contact(self) -> str:
        """For somebody who has to write to them: ``0001023 Anna Schmidt <anna@u.edu>``, as far as that is known."""
        name = self.name if self.name != self.id else ""
        address = f"<{self.email}>" if self.email and self.email != self.id else ""
        return printable(" ".join(part for part in (self.id, name, address) if part))


@dataclass(frozen=True)
class ClassResults:
    """A class: what each handed in, ordered by learner and lesson; learners by id; lessons in order."""

    course: Course
    marks: Mapping[Key, Mark]
    people: tuple[Person, ...] = ()
    lessons: tuple[ClassLesson, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know besides."""
    unreadable: tuple[CourseError, ...] = ()
    """Verdicts that are damaged."""
    more_time: frozenset[Key] = frozenset()
    """(learner, lesson) of extensions that have not ended: what has not come of these is not missing yet."""
    without_gradebook: tuple[CourseError, ...] = ()
    """Why there is nothing of the gradebook in this, if that is so: no marks given by hand, no late penalties."""
    of_before: tuple[str, ...] = ()
    """What is another since these were graded, or was not graded to its end: a line each."""

    @property
    def graded(self) -> tuple[Key, ...]:
        """What this run graded."""
        return tuple(key for key, one in self.marks.items() if one.how == "graded")

    def of_lesson(self, slug: str) -> list[Mark]:
        """What has marks of a lesson, ordered by learner."""
        return [one for one in self.marks.values() if one.lesson == slug and not (one.unmarked or one.absent)]

    def ungraded(self) -> list[Mark]:
        """What was handed in and could not be graded."""
        return [one for one in self.marks.values() if one.problem]


@dataclass(frozen=True)
class GradedClass(ClassResults):
    """What a run has graded, or found unchanged, and how."""

    seed: int = 0
    gradebook: str = ""
    reasons: tuple[str, ...] = ()
    """What was graded again, and why."""
    plain_tests: Mapping[str, int] = field(default_factory=dict)
    """Lesson -> how many of its test cells run beside the learner's code. Only of lessons that this run marked work of."""
    unfit: Mapping[str, str] = field(default_factory=dict)
    """Lesson -> why its reference answers lose marks here."""
    anyway: bool = False
    """Whether these lessons were graded in spite of that."""
    given_away: Mapping[str, str] = field(default_factory=dict)
    """Lesson -> the cells that give marks to a notebook that nobody has touched."""
    remarks: tuple[str, ...] = ()
    """Files of learners that are not beside their graded notebooks, and why; learners with fewer marks for a new hand-in."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Lesson -> why nothing of it can be graded here, by any command."""
