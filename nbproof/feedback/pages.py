"""Write the feedback pages of a class: find those that have to be written anew, and write them by several processes.

``feedback/<learner>/<lesson>/<lesson>.html`` is where nbgrader looks for them. Each page carries a digest of all that it was made
from: the verdict, the marks and comments of the gradebook, the words and the look. If that is the same, the page stays as
it is. One page that cannot be written never stops the others.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from nbproof.command import course_command
from nbproof.course_file import Course
from nbproof.errors import UsageError, may_mean
from nbproof.feedback.page import digest_in, digest_of_rules
from nbproof.feedback.page_writer import Task, page_path, write_pages
from nbproof.gradebook.graded_notebook import copy_receipts
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
    """The pages that were written, those that were not, and how many had no change."""

    written: tuple[Key, ...]
    unchanged: int
    failed: tuple[tuple[str, str, str], ...]
    """Learner, lesson and reason of each page that could not be written."""


def chosen_submissions(
    root: Path, learners: Sequence[str] = (), lessons: Sequence[str] = (), *, pages: bool = False
) -> list[Key]:
    """The keys of all notebooks that are graded, or that a person has marked without one; if learners or lessons are named,
    only of these.

    ``pages``: also the keys of other pages, which say why something could not be graded. Raises UsageError for a name that
    nothing was graded for.
    """
    found = _marked(root)
    if pages:
        found |= _made(root, "feedback", ".html")
    if not found:
        raise UsageError(
            "nothing has been graded yet",
            str(places(root).base("autograded").resolve()),
            f"{course_command('collect UPLOAD')}, unless submitted/ holds it; then: {course_command('grade')}",
        )
    _refuse_unknown(root, "learner", learners, {key.learner for key in found})
    _refuse_unknown(root, "lesson", lessons, {key.lesson for key in found} | {key.assignment for key in found})
    if learners:
        found = {key for key in found if key.learner in learners}
    if lessons:
        found = {key for key in found if key.lesson in lessons or key.assignment in lessons}
    return sorted(found)


def _marked(root: Path) -> set[Key]:
    """The keys of all that is graded, or that a person has marked."""
    marks = read_marks(root, places(root).lessons())
    return _made(root, "autograded", ".ipynb") | {key for key, one in marks.items() if one.by_person}


def _made(root: Path, step: str, ending: str) -> set[Key]:
    """The submissions that have a file with this ending at this step, also of lessons that are not there any more."""
    here = places(root)
    known = set(here.lessons())
    several = {assignment_of(one) for one in known if "/" in one}
    each = (here.lessons_in(folder, known | {folder.name} - several) for folder in here.handed_in(step))
    keys = itertools.chain.from_iterable(each)
    return {key for key in keys if here.notebook(step, *key).with_suffix(ending).exists()}


def _refuse_unknown(root: Path, what: str, names: Sequence[str], known: set[str]) -> None:
    """Raise UsageError for a name that is not known. ``what`` it is: a learner or a lesson."""
    for name in names:
        if name not in known:
            raise UsageError(
                f"no {what} with a grade is called {name!r}{may_mean(name, known)}",
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
    """Write the pages of these keys, and of ``problems``, if something changed (all with ``force``).

    ``problems``: key -> why it could not be graded. ``step``: called after each page. ``writers``: lines to processes that are
    warm already (:mod:`nbproof.feedback.page_writer`).

    Raises CourseError if the gradebook cannot be read.
    """
    problems = dict(problems or {})
    keys = sorted({*graded, *problems}, key=lambda key: (key[1], key[0]))
    root = root.resolve()
    problems = _gone(course, root, keys) | problems
    marks = read_marks(root, {lesson for _, lesson in keys}, {learner for learner, _ in keys})
    tasks = [task_of(course, root, key, marks.get(key), problems.get(key, "")) for key in keys]
    if not force:
        tasks = [task for task in tasks if digest_in(page_path(root, *task.key)) != task.digest]
    reasons: dict[Key, str] = {}
    with contextlib.closing(write_pages(course, root, tasks, writers)) as pages:
        for task, reason in pages:
            reasons[task.key] = reason
            step(len(reasons), len(tasks), "/".join(task.key))
    for key, reason in _tidy_folders(root, keys):
        reasons[key] = reasons.get(key) or reason
    done = sorted(reasons.items())
    return Feedback(
        tuple(key for key, reason in done if not reason),
        len(keys) - len(tasks),
        tuple((*key, reason) for key, reason in done if reason),
    )


def _tidy_folders(root: Path, keys: Iterable[Key]) -> Iterator[tuple[Key, str]]:
    """Put beside each page what `nbgrader release_feedback` needs there, and remove pages of notebooks that an assignment had
    once. Yields the keys for which that fails, with the reason."""
    notebooks = grouped((assignment_of(one), notebook_of(one)) for one in places(root).lessons())
    for key in keys:
        try:
            copy_receipts(root, *key, "feedback")
            for page in page_path(root, *key).parent.glob("*.html"):
                if page.stem not in notebooks.get(assignment_of(key[1]), [page.stem]) and digest_in(page):
                    page.unlink()
        except OSError as error:
            yield key, str(error.strerror)


def _gone(course: Course, root: Path, keys: Iterable[Key]) -> dict[Key, str]:
    """The keys of notebooks, of assignments with several, that are not there any more -> why their page cannot show a grade."""
    several = sorted({lesson for _, lesson in keys if "/" in lesson})
    if not several:
        return {}
    return dict.fromkeys({*keys}.intersection(take_in(course, root, several).absent), GONE)


def task_of(course: Course, root: Path, key: Key, marks: Mark | None, problem: str = "") -> Task:
    """The task to write the page of a submission, with the digest of all that the page is made from."""
    if marks is not None and not (places(root).folder("submitted", *key) / "timestamp.txt").is_file():
        # An LMS may call it late and not say when, and the gradebook needs a time.
        marks = replace(marks, late=replace(marks.late, handed_in=None))
    seen = hashlib.sha256(f"{digest_of_rules(course)}\0{problem}\0{marks!r}\0".encode("utf-8", "backslashreplace"))
    if not problem:
        with contextlib.suppress(OSError):
            seen.update(journal_of(root, *key).read_bytes())
    return Task(key, seen.hexdigest(), marks, problem)


def print_feedback(feedback: Feedback, folder: Path, seconds: float, asked: Iterable[str] = ()) -> None:
    """Print what became of the pages, those that could not be written first. ``asked``: lines on what people have to do."""
    console = console_for_output()
    say(
        console,
        *(f"! not written: feedback/{learner}/{lesson}: {reason}" for learner, lesson, reason in feedback.failed),
    )
    if feedback.failed:
        say(console, f"  next: mend that, then: {course_command('feedback')} (it writes what is missing only)")
    say(console, *asked)
    say(console, f"wrote {counted(len(feedback.written), 'page')}, {feedback.unchanged} unchanged, {seconds:.1f} s")
    say(console, f"feedback:  {folder.resolve()}")
