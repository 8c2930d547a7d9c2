"""Checks that are proven, feedback that names the misconception, grading that cannot be cheated: for any nbgrader course.

What the notebooks of a course import stands here: ``from nbproof import Check, check`` in checks, ``from nbproof import
hint, progress`` in lessons. What they need is imported when they are called, or asked for: the import itself costs nothing.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from nbproof.checks.apart import watch_test_cells
from nbproof.front_end import is_sealed

if TYPE_CHECKING:
    from nbproof.checks.check import Check
    from nbproof.course_file import Course
    from nbproof.values.compare import AnyOf, Close, Matches

__all__ = ["AnyOf", "Check", "Close", "Matches", "check", "hint", "names_of", "progress", "solution"]

_ROOMS = {"Check": "nbproof.checks.check"} | dict.fromkeys(("AnyOf", "Close", "Matches"), "nbproof.values.compare")

# Before any test cell runs; see nbproof/checks/apart.py.
watch_test_cells()


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_ROOMS[name]), name)


def course_here() -> Course:
    """The course for files that nobody hands one: a notebook, an nbgrader_config.py, a test. Raises UsageError.

    Who runs the checks of a course has named it before. If nobody has, it is the course that this process works for.
    """
    from nbproof.command import called_for
    from nbproof.course_file import the_course
    from nbproof.display.session import SESSION

    course = SESSION.course or the_course()
    called_for(course)
    return course


def _graded_later(what: str = "", exercise: str = "") -> bool:
    """Whether there is nothing to show, because a submission is being graded; then a line says so.

    ``what``: the call; without one it is the check of an exercise.
    """
    if is_sealed():
        from nbproof.values.words import words_of

        words = words_of(course_here())
        print(words.text("later", what=what or words.text("the check of", exercise=exercise)))
    return is_sealed()


def check(exercise: str, *tasks: type[Check], part: str = "") -> None:
    """Check your answer to an exercise, or one part of it: shows a panel, and raises an error if nobody looks at it."""
    from nbproof.checks.check import check_in, is_listed

    if not is_listed(exercise, tasks) and (tasks or not _graded_later(exercise=exercise)):
        check_in(course_here(), sys._getframe(1).f_globals, exercise, *tasks, part=part)


def names_of(exercise: str, part: str = "") -> dict[str, Any]:
    """What the checks define that learners have of an exercise, for the hidden ones in the instructor's notebook."""
    from nbproof.checks.check import names_in

    return names_in(course_here(), exercise, part)


def hint(exercise: str | None = None) -> None:
    """Show the next step of help: after a check that failed, or, with an exercise's id, for a start."""
    if not _graded_later("hint()"):
        from nbproof.display.help import show_next_step

        show_next_step(course_here(), exercise)


def progress() -> None:
    """Show which exercises are solved, which were tried, and where to go on. It is kept on this disk only."""
    if not _graded_later("progress()"):
        from nbproof.display.diary import show_progress

        show_progress(course_here())


def solution(exercise: str) -> None:
    """Show the reference answer to an exercise that you have solved, and two other right ones."""
    if not _graded_later("solution()"):
        from nbproof.display.panel import show_solution

        show_solution(course_here(), exercise)
