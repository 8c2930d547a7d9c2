"""Feedback pages for learners: which ones are to be written anew, by how many processes, and into which files.

``feedback/<learner>/<lesson>/<lesson>.html`` is where nbgrader looks for them. Each page carries a digest of what it was made
from: the verdict, the marks and comments of the gradebook, the words and the look. Where that is the same, the page stays as
it is. One page that cannot be written never stops the others.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import UsageError
from nbproof.feedback.page import digest_in, made_of
from nbproof.feedback.page_writer import Task, page_path, written
from nbproof.gradebook.graded_notebook import hand_on
from nbproof.gradebook.marks import Mark
from nbproof.gradebook.reader import read_marks
from nbproof.grouping import grouped
from nbproof.key import Key, assignment_of, notebook_of
from nbproof.places import places
from nbproof.run.intake import GONE, take_in
from nbproof.run.journal import journal_of
from nbproof.terminal import console_for_output, say
from nbproof.text import counted, some_of

__all__ = [
    "Feedback",
    "chosen_submissions",
    "print_feedback",
    "task_of",
    "write_feedback",
]

_Step = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Feedback:
    """What became of the pages."""

    written: tuple[Key, ...]
    unchanged: int
    failed: tuple[tuple[str, str, str], ...]
    """(learner, lesson, reason)."""


def chosen_submissions(
    root: Path, learners: Sequence[str] = (), lessons: Sequence[str] = (), *, pages: bool = False
) -> list[Key]:
    """(learner, lesson) of every notebook that is graded, or that a person has marked without one, of these learners and lessons
    only if some are named.

    ``pages``: and of every other page, which says why something could not be graded. Raises UsageError for a name that
    nothing was graded for.
    """
    found = sorted(_marked(root) | (_made(root, "feedback", ".html") if pages else set()))
    if not found:
        raise UsageError(
            "nothing has been graded yet",
            str(places(root).base("autograded").resolve()),
            f"{course_command('collect UPLOAD')}, unless submitted/ holds it; then: {course_command('grade')}",
        )
    _refuse_unknown(root, "learner", learners, {learner for learner, _ in found})
    _refuse_unknown(root, "lesson", lessons, {name for key in found for name in (key.lesson, key.assignment)})
    return [
        key
        for key in found
        if key.learner in (learners or (key.learner,)) and (not lessons or {key.lesson, key.assignment} & set(lessons))
    ]


def _marked(root: Path) -> set[Key]:
    """What is graded, and what a person has marked."""
    marks = read_marks(root, places(root).lessons())
    return _made(root, "autograded", ".ipynb") | {key for key, one in marks.items() if one.by_person}


def _made(root: Path, step: str, ending: str) -> set[Key]:
    """The submissions that have a file with this ending at this step, also of lessons that are no more."""
    here = places(root)
    known = set(here.lessons())
    several = {assignment_of(one) for one in known if "/" in one}
    each = (here.lessons_in(folder, known | {folder.name} - several) for folder in here.handed_in(step))
    keys = itertools.chain.from_iterable(each)
    return {key for key in keys if here.notebook(step, *key).with_suffix(ending).exists()}


def _refuse_unknown(root: Path, what: str, names: Sequence[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise UsageError(
                f"nothing was graded for the {what} {name!r}, only for {counted(len(known), f'other {what}')}",
                str(places(root).base("autograded").resolve()),
                f"choose from: {some_of(sorted(known), 8)}; or grade it: {course_command('grade')}",
            )


def write_feedback(
    course: Course,
    root: Path,
    graded: Iterable[Key],
    step: _Step = lambda done, of, name: None,
    *,
    problems: Mapping[Key, str] | None = None,
    force: bool = False,
    writers: Sequence[Connection] = (),
) -> Feedback:
    """Write the pages of these (learner, lesson) pairs, and of ``problems``, if something changed (all with ``force``).

    ``writers``: lines to processes that are warm already (:mod:`nbproof.feedback.page_writer`).

    Raises CourseError if the gradebook cannot be read.
    """
    keys = sorted({*graded, *(problems or {})}, key=lambda key: (key[1], key[0]))
    root = root.resolve()
    problems = _gone(course, root, keys) | dict(problems or {})
    marks = read_marks(root, {lesson for _, lesson in keys}, {learner for learner, _ in keys})
    tasks = [task_of(course, root, key, marks.get(key), problems.get(key, "")) for key in keys]
    if not force:
        tasks = [task for task in tasks if digest_in(page_path(root, *task.key)) != task.digest]
    reasons: dict[Key, str] = {}
    with contextlib.closing(written(course, root, tasks, writers)) as pages:
        for task, reason in pages:
            reasons[task.key] = reason
            step(len(reasons), len(tasks), "/".join(task.key))
    notebooks = grouped((assignment_of(one), notebook_of(one)) for one in places(root).lessons())
    for key in keys:
        try:
            # What `nbgrader release_feedback` wants beside each page.
            hand_on(root, *key, "feedback")
            for page in page_path(root, *key).parent.glob("*.html"):
                # Of a notebook that the assignment had once.
                if page.stem not in notebooks.get(assignment_of(key[1]), [page.stem]) and digest_in(page):
                    page.unlink()
        except OSError as error:
            reasons[key] = reasons.get(key) or str(error.strerror)
    done = sorted(reasons.items())
    return Feedback(
        tuple(key for key, reason in done if not reason),
        len(keys) - len(tasks),
        tuple((*key, reason) for key, reason in done if reason),
    )


def _gone(course: Course, root: Path, keys: Iterable[Key]) -> dict[Key, str]:
    """Of these notebooks, of assignments of several: which are not there any more. A page would show what came before."""
    several = sorted({lesson for _, lesson in keys if "/" in lesson})
    return dict.fromkeys({*keys}.intersection(take_in(course, root, several).absent), GONE) if several else {}


def task_of(course: Course, root: Path, key: Key, marks: Mark | None, problem: str = "") -> Task:
    """What is to be written for a submission, with the digest of all that it is made from."""
    if marks is not None and not (places(root).folder("submitted", *key) / "timestamp.txt").is_file():
        # An LMS may call it late and not say when, and the gradebook needs a time.
        marks = replace(marks, late=replace(marks.late, handed_in=None))
    seen = hashlib.sha256(f"{made_of(course)}\0{problem}\0{marks!r}\0".encode("utf-8", "backslashreplace"))
    if not problem:
        with contextlib.suppress(OSError):
            seen.update(journal_of(root, *key).read_bytes())
    return Task(key, seen.hexdigest(), marks, problem)


def print_feedback(feedback: Feedback, folder: Path, seconds: float, asked: Iterable[str] = ()) -> None:
    """What became of the pages, those that could not be written first; and what is ``asked`` of people, a line each."""
    console = console_for_output()
    for learner, lesson, reason in feedback.failed:
        say(console, f"! not written: feedback/{learner}/{lesson}: {reason}")
    if feedback.failed:
        say(console, f"  next: mend that, then: {course_command('feedback')} (it writes what is missing only)")
    for line in asked:
        say(console, line)
    say(console, f"wrote {counted(len(feedback.written), 'page')}, {feedback.unchanged} unchanged, {seconds:.1f} s")
    say(console, f"feedback:  {folder.resolve()}")
