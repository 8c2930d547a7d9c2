"""What is known of a class, read from the disk: verdicts, the gradebook's marks, what could not be graded.

Reading never fails for one submission's sake: a record that cannot be read is told as that
submission's problem. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbproof.command import course_command
from nbproof.errors import CourseError, UsageError
from nbproof.gradebook.reader import marks_in, opened_gradebook
from nbproof.marking.results import Score, SubmissionVerdict
from nbproof.run.intake import lessons_with_source, take_in
from nbproof.run.journal import JOURNAL, journal_of, journalled_verdict, problems_of
from nbproof.text import in_utc

__all__ = [
    "ClassExercise",
    "ClassLesson",
    "ClassRecords",
    "Known",
    "Person",
    "names_of",
    "people_in",
    "read_class",
]  # fmt: skip


@dataclass(frozen=True)
class ClassExercise:
    """One exercise of a lesson. ``points``: what its tests give."""

    id: str
    title: str
    points: float


@dataclass(frozen=True)
class ClassLesson:
    """A lesson that somebody handed in."""

    slug: str
    title: str
    max_score: float
    exercises: tuple[ClassExercise, ...] = ()
    due: str = ""
    given: str = ""
    """All text of the released notebook: words in it are the course's, not a learner's."""


@dataclass(frozen=True)
class Person:
    """A learner. ``id`` is the folder's name in ``submitted/``; the rest is what the gradebook knows."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""

    @property
    def name(self) -> str:
        """First and last name, as far as they are known."""
        return " ".join(part for part in (self.first_name, self.last_name) if part)

    @property
    def called(self) -> str:
        """For a person's eyes: the id, and the name where that is another word."""
        return f"{self.id} ({self.name})" if self.name and self.name != self.id else self.id


def people_in(book: Any) -> list[Person]:
    """Everybody whom a gradebook knows."""
    keys = ("id", "first_name", "last_name", "email", "lms_user_id")
    return [Person(*(str(one.get(key) or "") for key in keys)) for one in book.student_dicts()]


@dataclass(frozen=True)
class Known:
    """What is known of a class beside what was graded: who belongs to it, and what came of which nothing could be graded."""

    people: tuple[Person, ...] = ()
    late: frozenset[tuple[str, str]] = frozenset()
    """(learner, lesson) of what is late by the word of an LMS that does not say when it came."""
    problems: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Why nothing of it can be graded; without a lesson, if nothing says for which it was."""
    waiting: tuple[tuple[str, str], ...] = ()
    """Of which another copy may be the last."""


@dataclass(frozen=True)
class ClassRecords:
    """A class: lessons in order, learners by id, and what each handed in."""

    course: str
    lessons: tuple[ClassLesson, ...]
    learners: tuple[Person, ...]
    works: Mapping[tuple[str, str], Score]
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Whatever could name one of the learners, for taking it out of what others read."""
    unreadable: tuple[CourseError, ...] = ()
    """What is damaged: verdicts, and lessons, which are left out."""

    def of_lesson(self, slug: str) -> list[Score]:
        """What was handed in for a lesson and graded, ordered by learner."""
        return [work for _, work in sorted(self.works.items()) if work.lesson == slug and not work.problem]

    def ungraded(self) -> list[Score]:
        """What was handed in and could not be graded."""
        return [work for _, work in sorted(self.works.items()) if work.problem]

    def lesson(self, slug: str) -> ClassLesson:
        """The lesson with this name."""
        return next(lesson for lesson in self.lessons if lesson.slug == slug)


def read_class(
    root: Path,
    names: list[str],
    step: Callable[[int, int, str], None] = lambda done, of, name: None,
    told: Known | None = None,
) -> ClassRecords:
    """Everything that grading has left behind for these lessons (none named: all). Raises UsageError if there is nothing."""
    told = told or Known()
    from nbproof.nbgrader_setup import course_config

    config = course_config(root)
    known = lessons_with_source(root, [])
    lessons = lessons_with_source(root, names)
    intake = take_in(root, lessons, known)
    works = {
        (one.learner, one.lesson): Score(
            one.learner, one.lesson, problem=one.problem or "not graded yet", waits=not one.problem
        )
        for one in intake.submissions
    }
    for key, one in problems_of(root).items():
        if key in works:
            works[key] = replace(works[key], problem=one.why, waits=False, grader_failed=one.grader_failed)
    paths = {(one.learner, one.lesson): one.path for one in intake.submissions}
    journals = sorted(path for lesson in lessons for path in (root / "autograded").glob(f"*/{lesson}/{JOURNAL}"))
    damaged: dict[tuple[str, str], Path] = {}
    for done, path in enumerate(journals, 1):
        key = (path.parent.parent.name, path.parent.name)
        # What is in submitted/ now, and cannot be graded, counts, whatever was graded there before.
        if key[0].isprintable() and not (key in works and works[key].problem and not works[key].waits):
            verdict = journalled_verdict(root, *key)
            if verdict is None:
                damaged[key] = path
            works[key] = _work_of(root, *key, verdict, paths.get(key))
        step(done, len(journals), "/".join(key))
    for (learner, lesson), why in told.problems.items():
        if lesson in lessons:
            works[learner, lesson] = Score(learner, lesson, problem=why)
    people, works, due, notes = _with_gradebook(root, lessons, works)
    for person in told.people:
        people[person.id] = _as_on_the_roster(people.get(person.id, person), person)
    for key in told.late & works.keys():
        works[key] = replace(works[key], said_late=True)
    for (learner, lesson), why in told.problems.items():
        if not lesson:
            people.setdefault(learner, Person(learner))
            notes.append(f"nothing that can be graded came from {learner}: {why}")
    notes += [
        f"another copy of {learner}'s {lesson} may be the last, and waits for you: see {course_command('roster', root)}"
        for learner, lesson in told.waiting
        if lesson in lessons
    ]
    if not works:
        raise UsageError(
            "nothing was handed in for " + (", ".join(names) or "any lesson"),
            str((root / "submitted").resolve()),
            course_command("grade"),
        )
    unreadable = [
        CourseError(f"the verdict on {learner}'s {lesson} cannot be read", str(path), course_command("grade"))
        for (learner, lesson), path in sorted(damaged.items())
    ]
    found: list[ClassLesson] = []
    for slug in sorted({lesson for _, lesson in works}):
        try:
            found.append(_lesson(root, config, slug, works.values(), due.get(slug, "")))
        except CourseError as error:
            unreadable.append(error)
        except Exception as error:  # nbformat raises whatever json, jsonschema and its own converters raise
            place = str(root / "source" / slug / f"{slug}.ipynb")
            fact = f"{slug} is left out: its notebook in source/ cannot be read ({type(error).__name__})"
            unreadable.append(CourseError(fact, place, course_command(f"build {slug}")))
    if not found:
        raise unreadable[-1]
    kept = {lesson.slug for lesson in found}
    return ClassRecords(
        str(config.CourseDirectory.get("course_id", "")) or root.resolve().name,
        tuple(found),
        tuple(people[name] for name in sorted(people)),
        {key: work for key, work in works.items() if key[1] in kept},
        (*intake.notes, *notes),
        names_of(people.values()),
        tuple(unreadable),
    )


def _with_gradebook(
    root: Path, lessons: list[str], works: dict[tuple[str, str], Score]
) -> tuple[dict[str, Person], dict[tuple[str, str], Score], dict[str, str], list[str]]:
    """Scores, penalties, names and due dates from the gradebook; a note if it has none."""
    people = {learner: Person(learner) for learner, _ in works}
    due: dict[str, str] = {}
    works = dict(works)
    missing = "manual marks and late penalties are not in this report"
    try:
        with opened_gradebook(root) as book:
            if book is None:
                return people, works, due, [f"there is no gradebook: {missing}"]
            people |= {one.id: one for one in people_in(book)}
            for assignment in book.assignments:
                if assignment.name not in lessons:
                    continue
                due[assignment.name] = "" if assignment.duedate is None else in_utc(assignment.duedate)
                for learner, marks in marks_in(book, assignment.name).items():
                    work = works.get((learner, assignment.name), Score(learner, assignment.name))
                    if not work.problem or work.waits:
                        works[learner, assignment.name] = replace(
                            work, score=marks.score, max_score=marks.max_score, penalty=marks.penalty,
                            pending=marks.pending, seconds_late=marks.seconds_late, extended=marks.extended, problem="",
                            waits=False, settled=marks.settled(work.verdict),
                        )  # fmt: skip
    except Exception as error:  # SQLAlchemy, its drivers, alembic: each has a tree of its own, and some print passwords
        return people, works, {}, [
            f"the gradebook cannot be read ({type(error).__name__}): {missing}; {course_command('grade')} says what to do"
        ]  # fmt: skip
    return people, works, due, []


def _as_on_the_roster(person: Person, one: Person) -> Person:
    """The roster's name counts, as everywhere; so does its address."""
    if one.first_name:
        person = replace(person, first_name=one.first_name, last_name=one.last_name)
    return replace(person, email=one.email or person.email)


def names_of(people: Iterable[Person]) -> tuple[str, ...]:
    """Whatever could name somebody of the class."""
    return tuple(
        name
        for person in people
        for name in (person.id, person.first_name, person.last_name, person.email.partition("@")[0], person.lms_id)
        if name
    )


def _work_of(root: Path, learner: str, lesson: str, verdict: SubmissionVerdict | None, submitted: Path | None) -> Score:
    if verdict is None:
        return Score(learner, lesson, problem=f"its verdict cannot be read; {course_command('grade')}")
    return Score(
        learner, lesson, verdict.score, sum(one.max_score for one in verdict.exercises), verdict.problem,
        verdict=verdict.in_short(), grader_failed=verdict.grader_failed,
        note=_newer(submitted, journal_of(root, learner, lesson)),
    )  # fmt: skip


def _newer(submitted: Path | None, journal: Path) -> str:
    try:
        if submitted is not None and submitted.stat().st_mtime > journal.stat().st_mtime + 1:
            return "handed in again after it was graded"
    except OSError:
        pass
    return ""


def _lesson(root: Path, config: Any, slug: str, works: Iterable[Score], due: str) -> ClassLesson:
    from nbproof.display.outline import outline, title_of
    from nbproof.marking.blueprint import read_blueprint

    blueprint = read_blueprint(root / "source" / slug / f"{slug}.ipynb", config)
    outlined = next((one for one in outline() if one.slug == slug), None)
    titles = {one.id: one.title for one in outlined.exercises} if outlined else {}
    points: dict[str, float] = {}
    for test in blueprint.tests.values():
        points[test.exercise] = points.get(test.exercise, 0.0) + test.points
    seen = {one.id for work in works if work.lesson == slug for one in work.verdict.exercises}
    exercises = tuple(
        ClassExercise(name, titles.get(name, name), points[name]) for name in blueprint.exercises if name in points
    )
    # Of another version of the lesson, graded before it was changed.
    gone = sorted(seen - {exercise.id for exercise in exercises})
    exercises += tuple(ClassExercise(name, f"{name} (no longer in the lesson)", 0.0) for name in gone)
    most = max([blueprint.max_score, *(work.max_score for work in works if work.lesson == slug)])
    given = "\n".join(str(cell.source) for cell in blueprint.notebook.cells)
    return ClassLesson(slug, title_of(slug).replace("`", ""), most, exercises, due, given)
