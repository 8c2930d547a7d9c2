"""Write feedback pages by forks of the warm interpreter, if there are any, or else in this process.

A fork of the warm interpreter has imported all that draws pictures. It runs no learner's code and is not sealed: it writes to
the same folders as the grader.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from nbproof.course_file import Course
from nbproof.errors import CourseError
from nbproof.files import replace_file
from nbproof.gradebook.marks import Mark
from nbproof.key import Key
from nbproof.places import places

__all__ = ["Task", "page_path", "serve", "write_pages"]


@dataclass(frozen=True)
class Task:
    """One page to be written."""

    key: Key
    digest: str
    marks: Mark | None = None
    problem: str = ""
    """Why the submission could not be graded; empty if it was."""


def page_path(root: Path, learner: str, lesson: str) -> Path:
    """The path of a submission's page, which may not be there."""
    return places(root).notebook("feedback", learner, lesson).with_suffix(".html")


def _write_page(course: Course, root: Path, task: Task) -> str:
    """Write a page. Returns the reason if that went wrong, else an empty text."""
    from nbproof.feedback.page import page_of

    try:
        place = page_path(root, *task.key)
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, page_of(course, root, task))
    except CourseError as error:
        return f"{error.fact}; next: {error.next_command}"
    except OSError as error:
        return str(error.strerror)
    except Exception as error:  # a flaw that one submission has found costs no other learner their page
        return f"please report this ({type(error).__name__}: {str(error)[:200]})"
    return ""


def serve(line: Connection, course: Course) -> None:
    """Write one page after another until the process that asks hangs up."""
    while True:
        try:
            root, task = line.recv()
            line.send(_write_page(course, root, task))
        except (EOFError, OSError):
            return


def write_pages(
    course: Course, root: Path, tasks: Sequence[Task], writers: Sequence[Connection] = ()
) -> Generator[tuple[Task, str], None, None]:
    """Write the pages of these tasks. Yields each task as it is done, in their order, with the reason if it failed."""
    free: SimpleQueue[Connection | None] = SimpleQueue()
    for line in writers or (None,):
        free.put(line)
    with ThreadPoolExecutor(len(writers) or 1) as pool:
        yield from pool.map(lambda task: (task, _write_by_next(course, root, task, free)), tasks)


def _write_by_next(course: Course, root: Path, task: Task, free: SimpleQueue[Connection | None]) -> str:
    """Have the next free writer write a page. If that one has ended, this process writes instead, one page at a time."""
    line = free.get()
    reason = ""
    try:
        if line is not None:
            line.send((root, task))
    except OSError:
        line = None
    try:
        if line is not None:
            reason = line.recv()
        if line is None or reason:  # a next step is made where the user stands
            with _HERE:
                reason = _write_page(course, root, task)
    except (EOFError, OSError):
        line = None
        reason = "the process that wrote it was ended from outside, perhaps for its memory"
    free.put(line)
    return reason


_HERE = Lock()
