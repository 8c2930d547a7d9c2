"""Collect uploads: keep what came, tell whose and of which lesson each file is, and put the copy that counts into
submitted/."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nbproof.command import course_command, nbgrader_command
from nbproof.errors import UsageError
from nbproof_lms.archives import packing_of
from nbproof_lms.contents import LessonBook
from nbproof_lms.filing import file_uploads
from nbproof_lms.keeping import Stage
from nbproof_lms.names import why_no_learner
from nbproof_lms.outcome import Collected
from nbproof_lms.placing import Desk
from nbproof_lms.roster import enrol, joined, kept_roster, read_names
from nbproof_lms.system import systems

__all__ = ["collect", "only_collect"]

Step = Callable[[int, int, str], None]
_OWN = ("submitted", "autograded", "feedback", "source", "release", "lessons", ".course", "demo")


def collect(
    root: Path,
    paths: Sequence[Path | str],
    *,
    lesson: str | None = None,
    names: Path | None = None,
    learner: str | None = None,
    dry_run: bool = False,
    step: Step = lambda done, of, name: None,
) -> Collected:
    """Collect folders, archives and notebooks into ``submitted/`` of the course in ``root``.

    ``lesson``: the assignment that the upload belongs to; without it content decides. ``names``: a CSV (``roster``),
    whose learners are put on the roster that is kept, as for this upload. ``learner``: whose all of it is.
    Raises UsageError for a wrong call and for what cannot be written; never for what a learner handed in.
    """
    book = LessonBook(root)
    if lesson is not None and lesson not in book.lessons:
        known = f"choose from: {', '.join(book.lessons)}"
        raise UsageError(f"no lesson is called {lesson!r}", str(root / "release"), known)
    asked = _uploads(root, [Path(path) for path in paths])
    _refuse_an_exchange(root, [path for upload in asked for path in upload], lesson or "LESSON")
    if learner is not None and (why := why_no_learner(learner)):
        then = "choose another id, such as --learner jdoe"
        raise UsageError(f"{learner!r} cannot be a learner's id: {why}", "--learner", then)
    roster = kept_roster(root)
    came = read_names(names) if names is not None else None
    if came is not None:
        roster = joined(roster, came)
    with _disk(root), only_collect(root, dry_run), Stage(root, dry_run) as stage:
        arrived = [stage.take(path, step) for path in asked]
        desk = Desk(root, dry_run)
        told = file_uploads(arrived, book, desk, roster, lesson=lesson, learner=learner, step=step)
        collected = stage.finish(told, roster, desk, lesson)
        if came is not None and not dry_run:
            enrol(root, came.members)
        return collected


def _uploads(root: Path, paths: Sequence[Path]) -> list[list[Path]]:
    """What is collected together: each folder and archive by itself, loose files as one upload. Raises UsageError."""
    if not paths:
        raise UsageError(
            "there is nothing to collect", "no PATH", f"name a folder or a zip: {course_command('collect PATH')}"
        )
    own = {(root / name).resolve() for name in _OWN}
    for path in paths:
        _refuse_unfit(root, path, own)
    alone = [path for path in paths if path.is_dir() or _head(path)]
    loose = [path for path in paths if path not in alone]
    return [[path] for path in alone] + ([loose] if loose else [])


def _refuse_unfit(root: Path, path: Path, own: set[Path]) -> None:
    """Raise UsageError for what is no upload."""
    name_it = "name the folder or zip that came"
    try:
        place = path.resolve()
        is_folder = path.is_dir()
        is_file = path.is_file()
    except (OSError, ValueError, RuntimeError):
        raise UsageError("the upload cannot be read", str(path), name_it) from None
    if not is_folder and not is_file:
        fact = "the upload is neither a folder nor a file" if path.exists() else "there is no such upload"
        raise UsageError(fact, str(path.absolute()), "name the folder or zip that your LMS handed over")
    if place == root.resolve() or own & {place, *place.parents} or place == (root / "collected").resolve():
        raise UsageError("this folder is the course's own: there is nothing to collect in it", str(place), name_it)
    if is_folder and place in root.resolve().parents:
        raise UsageError("this folder holds the course itself", str(place), name_it)
    if not os.access(path, os.R_OK | (os.X_OK if is_folder else 0)):
        raise UsageError("the upload cannot be read: permission denied", str(place), f"chmod -R u+rX {path}")


def _refuse_an_exchange(root: Path, paths: Sequence[Path], lesson: str) -> None:
    """Raise UsageError for nbgrader's exchange: who hands in there can write any name and time; only the disk knows better.

    A copy that is the caller's alone, like an archive, holds nothing but names, and is read by them.
    """
    if os.name != "posix":
        return
    for path in paths:
        for folder in (Path(place) for place, _, _ in os.walk(path.resolve(), followlinks=False)):
            if not systems()["nbgrader"].read(folder.name, True):
                continue
            if folder.lstat().st_uid != os.getuid() or folder.parent.stat().st_mode & stat.S_IWOTH:
                raise UsageError(
                    "this is nbgrader's exchange, in which everybody can hand in under any name",
                    str(folder.parent),
                    f"let nbgrader collect it, which goes by who made a folder: cd {shlex.quote(str(root.resolve()))} && "
                    f"{nbgrader_command(f'collect {lesson}')}, then {course_command('grade')}",
                )


def _head(path: Path) -> str:
    with path.open("rb") as file:
        return packing_of(file.read(512))


_FULL = ("the disk is full; what was not finished was taken back", "free some space, then run the same command again")
_NOT_OURS = ("the course's folder cannot be written", "let your user write there, then run the same command again")
_TROUBLE = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EACCES: _NOT_OURS,
    errno.EPERM: _NOT_OURS,
    errno.EROFS: _NOT_OURS,
}


@contextlib.contextmanager
def _disk(root: Path) -> Iterator[None]:
    """What cannot be written, as fact, place and next command."""
    try:
        yield
    except OSError as error:
        place = str(error.filename or root / "collected")
        fact, then = _TROUBLE.get(
            error.errno or 0,
            (f"the upload cannot be kept ({error.strerror or error})", "mend that, then run the same command again"),
        )
        raise UsageError(fact, place, then) from None


@contextlib.contextmanager
def only_collect(root: Path, dry_run: bool = False) -> Iterator[None]:
    """One collect at a time: two would take the same number, and judge by what the other is about to replace."""
    if dry_run or os.name != "posix":
        yield
        return
    import fcntl

    (root / "collected").mkdir(exist_ok=True)
    with (root / "collected" / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                "another `collect` is running in this course",
                str(root / "collected"),
                "wait until it has ended, then run the same command again",
            ) from None
        yield
