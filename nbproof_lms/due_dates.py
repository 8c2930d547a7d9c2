"""``roster due`` and ``roster extend``: when a lesson is due, for the class and for one learner."""

from __future__ import annotations

import contextlib
from argparse import Namespace
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from nbgrader.apps import NbGraderAPI

from nbproof.command import course_command, nbgrader_command
from nbproof.errors import UsageError
from nbproof.gradebook.reader import due_dates_in, opened_gradebook
from nbproof.gradebook.storage_errors import trouble_with_gradebook
from nbproof.gradebook.writer import Writer
from nbproof.key import assignment_of
from nbproof.limits import GradingLimits
from nbproof.moments import moment_in
from nbproof.places import course_config, places
from nbproof.run.batch import register_lessons
from nbproof.run.digests import LessonState
from nbproof.run.intake import lessons_with_source
from nbproof.run.journal import RunState, only_run
from nbproof.text import in_one_line, in_utc, printable

__all__ = ["change_due_dates", "lines_of_due_dates", "read_due"]

_NONE = "none"


def change_due_dates(arguments: Namespace) -> int:
    """Do what one of the two was asked for; 0. Raises CourseError."""
    root, lesson = arguments.course, arguments.lesson
    lessons_with_source(root, [lesson])
    when = None if arguments.when == _NONE else read_due(arguments.when, f"roster {arguments.what}", places(root).zone)
    if arguments.what == "due":
        _set_due(root, lesson, when)
    else:
        _extend(root, lesson, list(dict.fromkeys(arguments.learners)), when)
    if any(folder.name == assignment_of(lesson) for folder in places(root).handed_in()):
        print(
            f"next: {course_command(f'grade {lesson}', root)}: penalties follow, and what is graded does not run again"
        )
        print(f"      {course_command('feedback', root)}: pages say it")
        return 0
    release = nbgrader_command(f"generate_assignment {lesson} --force")
    then = course_command(f"bundle {lesson}", root) if (root / "lessons").is_dir() else release
    print(f"next: {then}: what learners get, if they do not have it yet")
    return 0


def lines_of_due_dates(root: Path) -> list[str]:
    """For a terminal: a line for each lesson that has a due date, and for each extension."""
    with opened_gradebook(root) as book:
        if book is None:
            return []
        dates = due_dates_in(book)
    lines = [f"due:       {lesson}: {in_utc(when)}" for lesson, when in sorted(dates.lessons.items())]
    return lines + [
        f"extension: {lesson}: {printable(learner)} until {in_utc(until)}"
        for (learner, lesson), until in dates.extensions.items()
    ]


@contextlib.contextmanager
def _gradebook(root: Path, lesson: str = "") -> Iterator[Writer]:
    """The gradebook, while no run writes to it; it knows this lesson as it is now."""
    config = course_config(root)
    course = NbGraderAPI(config=config).coursedir
    with only_run(root), trouble_with_gradebook(course.db_url), Writer(course.db_url, course.course_id) as writer:
        if lesson:
            limits = GradingLimits(config=config)
            states = {one: LessonState.of(root, one, config, limits) for one in lessons_with_source(root, [lesson])}
            for note in register_lessons(states, RunState(root), writer):
                print(f"note: {note}")
        yield writer


def _set_due(root: Path, lesson: str, when: datetime | None) -> None:
    with _gradebook(root) as writer:
        before = due_dates_in(writer).extensions
        writer.set_due(lesson, when)
        after = due_dates_in(writer).extensions
    print(f"{lesson} is due {in_utc(when)}" if when else f"{lesson} has no due date now")
    for learner, _ in before.keys() - after.keys():
        print(f"note: {printable(learner)} has no extension any more: it would not be later")


def _extend(root: Path, lesson: str, learners: Sequence[str], until: datetime | None) -> None:
    with _gradebook(root, lesson) as writer:
        dates = due_dates_in(writer)
        due = dates.lessons.get(lesson)
        if due is None:
            raise UsageError(
                f"{lesson} has no due date yet, so nobody can have more time",
                "roster extend",
                f"set the due date of the class first: {course_command(f'roster due {lesson} 2026-11-20', root)}",
            )
        if until is not None and until <= due:
            raise UsageError(
                f"{in_utc(until)} is not later than for the class, {in_utc(due)}",
                "roster extend",
                f"name a later time; or take an extension away: {course_command(f'roster extend NAME {lesson} {_NONE}', root)}",
            )
        for learner in learners:
            if until is not None or (learner, lesson) in dates.extensions:
                writer.extend(lesson, learner, until)
    for learner in learners:
        told = f"{in_utc(until)}; for the class {in_utc(due)}" if until else f"{in_utc(due)}, as for the class"
        print(f"{printable(learner)}: {lesson} is due {told}")


def read_due(text: str, place: str, zone: str = "UTC") -> datetime:
    """The time, in UTC. ``place``: the option or the command that it was given to. Raises UsageError."""
    try:
        return moment_in(text, end_of_day=True, home=zone)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time, or not for certain: {in_one_line(error)}",
            place,
            "write it as 2026-11-20 (the end of that day, in UTC) or '2026-11-20 18:00', with +01:00 or Europe/Berlin behind it "
            "for another zone",
        ) from None
