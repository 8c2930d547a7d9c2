"""What `grade` does before it imports for seconds: it says what it does, and starts the warm interpreter.

That one imports for seconds as well, beside this process. Nothing heavy is imported here.
"""

from __future__ import annotations

import contextlib
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from nbproof.authoring.simulate import DEMO
from nbproof.errors import CourseError
from nbproof.places import places
from nbproof.run.intake import anything_new, gradable_lessons, take_in
from nbproof.sandbox.isolation import isolation_or_refuse
from nbproof.sandbox.launch import Launched, launch

__all__ = ["graded_is_the_demo", "head_start"]

_MOST_WRITERS = 16
"""Processes that write feedback pages."""


@contextlib.contextmanager
def head_start(request: Namespace) -> Iterator[Launched | None]:
    """The warm interpreter on its way, if this run will surely need it. It is ended with this block."""
    if not request.quiet and places(request.course).lessons():
        print("grading: looking through what was handed in", file=sys.stderr, flush=True)
    launched = None
    # If something is wrong, the run itself says what.
    with contextlib.suppress(CourseError, OSError):
        launched = _launched(request) if not request.pool else None
    try:
        yield launched
    finally:
        if launched is not None:
            launched.end()
            launched.dismiss_writers()


def graded_is_the_demo(request: Namespace) -> bool:
    """Whether nobody has handed in anything, and no class is known: then the simulated class is graded."""
    root: Path = request.course
    if (
        request.only
        or request.uploads
        or request.fetch
        or places(root).learners()
        or not any(root.glob("lessons/*/lesson.py"))
    ):
        return False
    from nbproof.nbgrader.next_door import is_class_known

    return not is_class_known(root)


def _launched(request: Namespace) -> Launched | None:
    """The interpreter, started; None if a quick look finds nothing to mark here."""
    demo = graded_is_the_demo(request)
    folder = request.course / DEMO if demo else request.course
    intake = take_in(request.works_for, folder, gradable_lessons(request.course, request.names_of_lessons))
    there = bool(intake.submissions)
    if not (
        request.uploads
        or request.fetch
        or (demo and not there)
        or (there and (request.force or anything_new(folder, intake)))
    ):
        return None
    pages = len(intake.submissions) or _MOST_WRITERS
    writers = 0 if request.no_feedback else min(pages, os.cpu_count() or 1, _MOST_WRITERS)
    level = isolation_or_refuse(request.unsafe, request.isolation).level
    return launch(request.works_for, level, "nbproof.feedback.page_writer", writers)
