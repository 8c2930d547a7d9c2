"""Feedback pages for learners: which ones are to be written anew, by how many processes, and into which files.

``feedback/<learner>/<lesson>/<lesson>.html`` is where nbgrader looks for them, ``feedback/<learner>/index.html``
leads to them. Each page carries a digest of what it was made from: the verdict, the marks and comments of the
gradebook, the words and the look. Where that is the same, the page stays as it is. One page that cannot be written
never stops the others.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from nbproof.command import course_command
from nbproof.errors import CourseError, UsageError
from nbproof.feedback.handed_back import Earlier, note_marked_again
from nbproof.feedback.page_task import PageTrouble, Task, page_path, trouble_of
from nbproof.feedback.page_writer import written
from nbproof.files import replace_file
from nbproof.gradebook.marks import Mark
from nbproof.gradebook.reader import read_marks
from nbproof.run.journal import journal_of
from nbproof.text import counted

__all__ = [
    "Feedback",
    "chosen_submissions",
    "page_task",
    "print_feedback",
    "task_of",
    "write_feedback",
]

_Step = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Feedback:
    """What became of the pages."""

    written: tuple[tuple[str, str], ...]
    unchanged: int
    failed: tuple[tuple[str, str, str], ...]
    """(learner, lesson, reason)."""


def chosen_submissions(
    root: Path, learners: Sequence[str] = (), lessons: Sequence[str] = (), *, pages: bool = False
) -> list[tuple[str, str]]:
    """(learner, lesson) of every graded notebook, of these learners and lessons only if some are named.

    ``pages``: and of every other page, which says why something could not be graded. Raises UsageError for a name that
    nothing was graded for.
    """
    places = [path for path in (root / "autograded").glob("*/*/*.ipynb") if path.stem == path.parent.name]
    if pages:
        places += [path for path in (root / "feedback").glob("*/*/*.html") if path.stem == path.parent.name]
    found = sorted({(path.parent.parent.name, path.parent.name) for path in places})
    if not found:
        raise UsageError("nothing has been graded yet", str((root / "autograded").resolve()), course_command("grade"))
    for what, names, known in (
        ("learner", learners, {learner for learner, _ in found}),
        ("lesson", lessons, {lesson for _, lesson in found}),
    ):
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, sorted(known), n=3)
                raise UsageError(
                    f"nothing was graded for the {what} {name!r}, only for {counted(len(known), f'other {what}')}",
                    str((root / "autograded").resolve()),
                    f"did you mean {' or '.join(near)}?" if near else course_command("grade"),
                )
    return [pair for pair in found if (not learners or pair[0] in learners) and (not lessons or pair[1] in lessons)]


def write_feedback(
    root: Path,
    graded: Iterable[tuple[str, str]],
    step: _Step = lambda done, of, name: None,
    *,
    problems: Mapping[tuple[str, str], str] | None = None,
    force: bool = False,
    workers: int | None = None,
    writers: Sequence[Connection] = (),
) -> Feedback:
    """Write the pages of these (learner, lesson) pairs, and of ``problems``, if something changed (all with ``force``).

    ``writers``: lines to processes that are warm already (:mod:`nbproof.feedback.page_writer`).

    Raises CourseError if the gradebook cannot be read or the disk fails, UsageError for less than one worker.
    """
    if workers is not None and workers < 1:
        raise UsageError(
            f"{workers} processes write nothing", f"--workers {workers}", "give 1 or more, or leave it out"
        )
    problems = dict(problems or {})
    pairs = sorted({*graded, *problems}, key=lambda pair: (pair[1], pair[0]))
    if not pairs:
        return Feedback((), 0, ())
    root = root.resolve()
    from nbproof.display.lab import let_matplotlib_write
    from nbproof.feedback.page import digest_in

    let_matplotlib_write(root)
    marks = _as_told(root, read_marks(root, {lesson for _, lesson in pairs}, {learner for learner, _ in pairs}))
    again = note_marked_again(root, marks)

    tasks, unchanged = [], 0
    for learner, lesson in pairs:
        key = (learner, lesson)
        task = task_of(root, learner, lesson, marks.get(key), problems.get(key, ""), again.get(key))
        if not force and digest_in(page_path(root, learner, lesson)) == task.digest:
            unchanged += 1
        else:
            tasks.append(task)
    outcome: dict[tuple[str, str], str] = {}
    with contextlib.closing(written(root, tasks, workers or os.cpu_count() or 1, writers)) as pages:
        for task, trouble in pages:
            _stop_where_the_disk_fails(trouble, page_path(root, task.learner, task.lesson))
            outcome[task.learner, task.lesson] = trouble.reason
            step(len(outcome), len(tasks), f"{task.learner}/{task.lesson}")
    failed = [(*pair, reason) for pair, reason in sorted(outcome.items()) if reason]
    failed += _hand_on_receipts(root, [pair for pair in pairs if not outcome.get(pair)])
    behind = {learner for learner, _ in pairs if _overview_is_behind(root / "feedback" / learner)}
    failed += _write_overviews(root, sorted({task.learner for task in tasks} | behind))
    return Feedback(tuple(pair for pair, reason in sorted(outcome.items()) if not reason), unchanged, tuple(failed))


def page_task(root: Path, learner: str, lesson: str, marks: Mark | None) -> Task:
    """What is to be written for one submission alone."""
    key = (learner, lesson)
    told = _as_told(root, {key: marks} if marks is not None else {})
    return task_of(root, learner, lesson, told.get(key), earlier=note_marked_again(root, told).get(key))


def _as_told(root: Path, marks: Mapping[tuple[str, str], Mark]) -> dict[tuple[str, str], Mark]:
    """Without times of handing in that nobody told: an LMS may call it late and not say when, and the gradebook needs a time."""
    return {
        (learner, lesson): one
        if (root / "submitted" / learner / lesson / "timestamp.txt").is_file()
        else replace(one, late=replace(one.late, handed_in=None))
        for (learner, lesson), one in marks.items()
    }


def task_of(
    root: Path, learner: str, lesson: str, marks: Mark | None, problem: str = "", earlier: Earlier | None = None
) -> Task:
    """What is to be written for a submission, with the digest of all that it is made from."""
    from nbproof.feedback.page import made_of

    changed = (earlier.before, earlier.after, earlier.day) if earlier is not None else ()
    seen = hashlib.sha256(f"{made_of()}\0{problem}\0{marks!r}\0{changed!r}\0".encode("utf-8", "backslashreplace"))
    if not problem:
        with contextlib.suppress(OSError):
            seen.update(journal_of(root, learner, lesson).read_bytes())
    return Task(learner, lesson, seen.hexdigest(), marks, problem, earlier)


def _stop_where_the_disk_fails(trouble: PageTrouble, place: Path) -> None:
    """Raise CourseError for what would fail for every other page as well: a full disk, one that can only be read."""
    from nbproof.gradebook.storage_errors import is_one_files, trouble_with_disk

    if trouble.errno:
        error = OSError(trouble.errno, trouble.reason)
        told = None if is_one_files(error) else trouble_with_disk(error, place)
        if told is not None:
            raise CourseError(told.fact, str(place), f"mend that, then: {course_command('feedback')}")


def _hand_on_receipts(root: Path, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """What `nbgrader release_feedback` wants beside each page; (learner, lesson, reason) of what could not be written."""
    from nbproof.gradebook.graded_notebook import hand_on

    failed = []
    for learner, lesson in pairs:
        try:
            hand_on(root, learner, lesson)
        except OSError as error:
            trouble = trouble_of(error)
            _stop_where_the_disk_fails(trouble, page_path(root, learner, lesson).parent)
            failed.append((learner, lesson, trouble.reason))
    return failed


def _overview_is_behind(folder: Path) -> bool:
    """Whether a learner's overview is missing or older than a page, as after a run that was cut off between them."""
    try:
        pages = [path.stat().st_mtime_ns for path in folder.glob("*/*.html")]
        return bool(pages) and (folder / "index.html").stat().st_mtime_ns < max(pages)
    except OSError:
        return True


def _write_overviews(root: Path, learners: Sequence[str]) -> list[tuple[str, str, str]]:
    """The page of each learner over all lessons that have a page; (learner, "", reason) of those that failed."""
    from nbproof.feedback.page import overview_page, row_of

    if not learners:
        return []
    lessons = {path.parent.name for learner in learners for path in (root / "feedback" / learner).glob("*/*.html")}
    marks = _as_told(root, read_marks(root, lessons, set(learners)))
    failed = []
    for learner in learners:
        own = sorted(path.parent.name for path in (root / "feedback" / learner).glob("*/*.html"))
        try:
            rows = [row_of(lesson, marks.get((learner, lesson))) for lesson in dict.fromkeys(own)]
            replace_file(root / "feedback" / learner / "index.html", overview_page(learner, rows))
        except Exception as error:
            trouble = trouble_of(error)
            _stop_where_the_disk_fails(trouble, root / "feedback" / learner / "index.html")
            failed.append((learner, "", trouble.reason))
    return failed


def print_feedback(feedback: Feedback, folder: Path, seconds: float) -> None:
    """What became of the pages, those that could not be written first."""
    from nbproof.terminal import console_for_output

    console = console_for_output()
    for learner, lesson, reason in feedback.failed:
        place = f"feedback/{learner}/{lesson}" if lesson else f"feedback/{learner}/index.html"
        console.print(f"! not written: {place}: {reason}", highlight=False, markup=False, soft_wrap=True)
    if feedback.failed:
        again = f"  next: mend that, then: {course_command('feedback')} (it writes what is missing only)"
        console.print(again, highlight=False, markup=False, soft_wrap=True)
    console.print(
        f"wrote {counted(len(feedback.written), 'page')}, {feedback.unchanged} unchanged, {seconds:.1f} s",
        highlight=False,
    )
    console.print(f"feedback:  {folder.resolve()}", highlight=False, soft_wrap=True)
