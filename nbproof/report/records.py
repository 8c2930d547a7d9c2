"""What is known of a class, read from the disk: verdicts, the gradebook's marks, what could not be graded.

Reading never fails for one submission's sake: a record that cannot be read is told as that
submission's problem. Nothing is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nbproof.collect.earlier import late_by_word, useless
from nbproof.collect.enrolled import members_of
from nbproof.command import course_command
from nbproof.errors import UsageError
from nbproof.marking.results import ExerciseVerdict, SubmissionVerdict
from nbproof.run.intake import lessons_with_source, take_in
from nbproof.run.ungraded_log import problems_of

__all__ = [
    "ClassExercise",
    "ClassLesson",
    "ClassRecords",
    "ExerciseOutcome",
    "LearnerWork",
    "Person",
    "names_of",
    "read_class",
    "title_of",
]  # fmt: skip

JOURNAL = ".verdict.json"
_MOST_BYTES = 64 << 20


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
    stubs: Mapping[str, str] = field(default_factory=dict)
    """What each TODO cell says before it is worked on."""
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
    def called(self) -> str:
        """For a person's eyes: the id, and the name where that is another word."""
        name = " ".join(part for part in (self.first_name, self.last_name) if part)
        return f"{self.id} ({name})" if name and name != self.id else self.id


@dataclass(frozen=True)
class ExerciseOutcome:
    """How one exercise of one submission ended."""

    id: str
    status: str
    score: float
    max_score: float
    sentence: str
    difference: str = ""
    """The first difference that a check found; empty where none got that far."""
    hints: tuple[str, ...] = ()
    """Misconceptions that the checks recognised."""
    seconds: float = 0.0
    answer: str = ""

    @property
    def whole(self) -> bool:
        """Whether it earned every point."""
        return self.score >= self.max_score


@dataclass(frozen=True)
class LearnerWork:
    """One learner's submission of one lesson."""

    learner: str
    lesson: str
    score: float = 0.0
    """With manual marks, less the late penalty."""
    max_score: float = 0.0
    penalty: float = 0.0
    pending: bool = False
    """Whether a manual mark is still to be given."""
    outcomes: tuple[ExerciseOutcome, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    recovered: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    peak_mb: float = 0.0
    problem: str = ""
    """Why it was not graded; empty where it was."""
    waits: bool = False
    """Whether that is only that nobody has graded it yet."""
    grader_failed: bool = False
    """Whether that is a flaw of the grader."""
    seconds_late: float = 0.0
    said_late: bool = False
    """The LMS calls it late, and does not say when it came."""
    note: str = ""

    @property
    def late(self) -> bool:
        """Whether it came after it was due, by the times or by the LMS's word."""
        return self.seconds_late > 0 or self.said_late or self.penalty > 0

    @property
    def share(self) -> float:
        """Score by maximum, 0 to 1."""
        return self.score / self.max_score if self.max_score else 0.0


@dataclass(frozen=True)
class ClassRecords:
    """A class: lessons in order, learners by id, and what each handed in."""

    course: str
    lessons: tuple[ClassLesson, ...]
    learners: tuple[Person, ...]
    works: Mapping[tuple[str, str], LearnerWork]
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Whatever could name one of the learners, for taking it out of what others read."""

    def of_lesson(self, slug: str) -> list[LearnerWork]:
        """What was handed in for a lesson and graded, ordered by learner."""
        return [work for _, work in sorted(self.works.items()) if work.lesson == slug and not work.problem]

    def ungraded(self) -> list[LearnerWork]:
        """What was handed in and could not be graded."""
        return [work for _, work in sorted(self.works.items()) if work.problem]

    def lesson(self, slug: str) -> ClassLesson:
        """The lesson with this name."""
        return next(lesson for lesson in self.lessons if lesson.slug == slug)


def read_class(
    root: Path, names: list[str], step: Callable[[int, int, str], None] = lambda done, of, name: None
) -> ClassRecords:
    """Everything that grading has left behind for these lessons (none named: all). Raises UsageError where there is nothing."""
    from nbproof.nbgrader_setup import course_config
    from nbproof.report.booked import with_gradebook

    config = course_config(root)
    known = lessons_with_source(root, [])
    lessons = lessons_with_source(root, names)
    intake = take_in(root, lessons, known)
    works = {
        (one.learner, one.lesson): LearnerWork(
            one.learner, one.lesson, problem=one.problem or "not graded yet", waits=not one.problem
        )
        for one in intake.submissions
    }
    for key, told in problems_of(root).items():
        if key in works:
            works[key] = replace(works[key], problem=told.why, waits=False, grader_failed=told.grader_failed)
    paths = {(one.learner, one.lesson): one.path for one in intake.submissions}
    journals = sorted(path for lesson in lessons for path in (root / "autograded").glob(f"*/{lesson}/{JOURNAL}"))
    for done, path in enumerate(journals, 1):
        key = (path.parent.parent.name, path.parent.name)
        # What is in submitted/ now, and cannot be graded, counts, whatever was graded there before.
        if key[0].isprintable() and not (key in works and works[key].problem and not works[key].waits):
            works[key] = _read_work(path, *key, paths.get(key))
        step(done, len(journals), "/".join(key))
    others = useless(root, {(one.learner, one.lesson) for one in take_in(root, known, known).submissions})
    works |= {
        (one.learner, one.lesson): LearnerWork(one.learner, one.lesson, problem=str(one))
        for one in others if one.lesson in lessons
    }  # fmt: skip
    people, works, due, notes = with_gradebook(config, lessons, works)
    for member in members_of(root):
        if member.learner not in people or not people[member.learner].first_name:
            known_person = people.get(member.learner, Person(member.learner))
            email = known_person.email or member.email
            first, last = _first_and_last(member.name)
            people[member.learner] = replace(
                known_person, first_name=first, last_name=last or known_person.last_name, email=email
            )
    for key in late_by_word(root) & works.keys():
        works[key] = replace(works[key], said_late=True)
    unplaced = [one for one in others if not one.lesson]
    for one in unplaced:
        people.setdefault(one.learner, Person(one.learner))
    notes += [f"nothing that can be graded came from {one.learner}: {one}" for one in unplaced]
    if not works:
        raise UsageError(
            "nothing was handed in for " + (", ".join(names) or "any lesson"),
            str((root / "submitted").resolve()),
            course_command("grade"),
        )
    found = sorted({lesson for _, lesson in works})
    return ClassRecords(
        str(config.CourseDirectory.get("course_id", "")) or root.resolve().name,
        tuple(_lesson(root, config, slug, works.values(), due.get(slug, "")) for slug in found),
        tuple(people[name] for name in sorted(people)),
        works,
        (*intake.notes, *notes),
        names_of(people.values()),
    )


def _first_and_last(name: str) -> tuple[str, str]:
    """A name as a roster has it; Canvas turns it round: "Doe, Jane"."""
    last, comma, first = (part.strip() for part in name.partition(","))
    return (first, last) if comma and first and last and "," not in first else (name, "")


def names_of(people: Iterable[Person]) -> tuple[str, ...]:
    """Whatever could name somebody of the class."""
    return tuple(
        name
        for person in people
        for name in (person.id, person.first_name, person.last_name, person.email.partition("@")[0], person.lms_id)
        if name
    )


def _read_work(path: Path, learner: str, lesson: str, submitted: Path | None) -> LearnerWork:
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            raise ValueError("not a journal")
        kept = json.loads(path.read_text(encoding="utf-8"))
        verdict = SubmissionVerdict.from_dict(kept["verdict"])
        if (verdict.learner, verdict.lesson) != (learner, lesson):
            raise ValueError("another submission's journal")
        outcomes = tuple(_outcome(one, verdict.answers) for one in verdict.exercises)
        return LearnerWork(
            learner, lesson, float(verdict.score), sum(one.max_score for one in outcomes), 0.0, False, outcomes,
            {str(name): str(text) for name, text in verdict.answers.items()},
            {str(name): str(how) for name, how in verdict.recovered.items()},
            float(verdict.seconds), float(verdict.peak_mb), str(verdict.problem), note=_newer(submitted, path),
            grader_failed=bool(verdict.grader_failed),
        )  # fmt: skip
    except Exception:  # whatever stands in a file that anybody may have written
        return LearnerWork(learner, lesson, problem=f"its verdict cannot be read; {course_command('grade --force')}")


def _newer(submitted: Path | None, journal: Path) -> str:
    try:
        if submitted is not None and submitted.stat().st_mtime > journal.stat().st_mtime + 1:
            return "handed in again after it was graded"
    except OSError:
        pass
    return ""


def _outcome(verdict: ExerciseVerdict, answers: Mapping[str, str]) -> ExerciseOutcome:
    most = sum(test.max_score for test in verdict.tests)
    wrong = [test for test in verdict.tests if test.score < test.max_score]
    hints = tuple(dict.fromkeys(test.hint for test in wrong if test.hint))
    difference = next((test.sentence for test in wrong if test.sentence), "")
    return ExerciseOutcome(
        str(verdict.id), str(verdict.status), float(verdict.score), float(most), str(verdict.sentence),
        str(difference), tuple(map(str, hints)), float(verdict.seconds), str(answers.get(verdict.id, "")),
    )  # fmt: skip


def _lesson(root: Path, config: Any, slug: str, works: Iterable[LearnerWork], due: str) -> ClassLesson:
    from nbproof.display.outline import outline
    from nbproof.marking.blueprint import read_blueprint

    blueprint = read_blueprint(root / "source" / slug / f"{slug}.ipynb", config)
    outlined = next((one for one in outline() if one.slug == slug), None)
    titles = {one.id: one.title for one in outlined.exercises} if outlined else {}
    points: dict[str, float] = {}
    for test in blueprint.tests.values():
        points[test.exercise] = points.get(test.exercise, 0.0) + test.points
    seen = {outcome.id for work in works if work.lesson == slug for outcome in work.outcomes}
    exercises = tuple(
        ClassExercise(name, titles.get(name, name), points[name]) for name in blueprint.exercises if name in points
    )
    # Of another version of the lesson, graded before it was changed.
    gone = sorted(seen - {exercise.id for exercise in exercises})
    exercises += tuple(ClassExercise(name, f"{name} (no longer in the lesson)", 0.0) for name in gone)
    most = max([blueprint.max_score, *(work.max_score for work in works if work.lesson == slug)])
    given = "\n".join(str(cell.source) for cell in blueprint.notebook.cells)
    return ClassLesson(slug, title_of(slug), most, exercises, due, dict(blueprint.stubs), given)


def title_of(slug: str) -> str:
    """A lesson's title as plain text; its name where it has none."""
    from nbproof.display.outline import outline

    found = next((one.title for one in outline() if one.slug == slug), slug.replace("_", " "))
    return found.replace("`", "")
