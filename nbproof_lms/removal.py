"""Take learners out of a course: out of every folder, the gradebook, and the lists of what came."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbproof.errors import CourseError
from nbproof.feedback.handed_back import forget_handed_back
from nbproof.gradebook.reader import due_dates_in, opened_gradebook
from nbproof.run.journal import RunState, forget_problems
from nbproof.text import counted, in_utc
from nbproof_lms.handback import pages_of, take_out_pages
from nbproof_lms.outcome import Line, uploads_in, write_list
from nbproof_lms.roster import ROSTER, members_of, strike_off

__all__ = ["remove", "traces"]

FOLDERS = ("submitted", "autograded", "feedback")


def traces(root: Path, learner: str, with_uploads: bool = False) -> list[str]:
    """All that a course holds of a learner, in words; nothing if there is nothing. Raises CourseError if it cannot be read."""
    found = [f"{name}/{learner}" for name in FOLDERS if _folder(root, name, learner) is not None]
    found += [f"their pages in {path}" for path in pages_of(root, {learner})]
    with opened_gradebook(root) as book:
        found += _in_gradebook(book, learner) if book is not None else []
    if learner in {member.learner for member in members_of(root)}:
        found.append(f"the line in {ROSTER}")
    stays = "their files" if with_uploads else "their name in the lists; the files stay"
    uploads = [
        upload.folder for upload in uploads_in(root) if learner in {line.learner for line in upload.lines} - {""}
    ]
    return found + [f"in collected/{folder}: {stays}" for folder in uploads]


def _folder(root: Path, name: str, learner: str) -> Path | None:
    """A learner's own folder, or a link in its place; None if there is none, or the name leads somewhere else."""
    path = root / name / learner
    if learner in {"", ".", ".."} or Path(learner).name != learner or "\0" in learner or not os.path.lexists(path):
        return None
    return path


def _in_gradebook(book: Any, learner: str) -> list[str]:
    """What the gradebook holds of a learner: marks, comments and extensions are what nothing brings back."""
    from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook

    if book.db.get(Student, learner) is None:
        return []
    own = book.db.query(SubmittedAssignment.id).filter(SubmittedAssignment.student_id == learner)
    notebooks = [row.id for row in book.db.query(SubmittedNotebook.id).filter(SubmittedNotebook.assignment_id.in_(own))]
    by_hand = sum(
        book.db.query(kind.id).filter(kind.notebook_id.in_(notebooks), given.isnot(None)).count()
        for kind, given in ((Grade, Grade.manual_score), (Comment, Comment.manual_comment))
    )
    given = f", with marks or comments given by hand: {by_hand}" if by_hand else ""
    told = [f"the gradebook's {counted(own.count(), 'submission')}{given}"]
    extensions = due_dates_in(book).extensions.items()
    return told + [
        f"their extension of {lesson}, until {in_utc(until)}"
        for (whose, lesson), until in extensions
        if whose == learner
    ]


def remove(root: Path, learners: Collection[str], with_uploads: bool = False) -> list[str]:
    """Remove these learners. The journals go before the gradebook: a run that comes after a cut brings nobody back.

    What came in uploads stays byte for byte, but lists no longer say whose it was; ``with_uploads``: their files and
    the files' names go, too.
    Returns archives that stay because others are in them as well. Raises CourseError.
    """
    gone = set(learners)
    try:
        for learner in sorted(gone):
            for name in FOLDERS:
                if (path := _folder(root, name, learner)) is not None:
                    _delete(path)
        # Before the lists forget whose number is whose.
        take_out_pages(root, gone)
        staying = _out_of_lists(root, gone, with_uploads)
        strike_off(root, gone)
        forget_problems(root, gone)
        forget_handed_back(root, gone)
        _out_of_state(root, gone)
    except OSError as error:
        raise CourseError(
            f"not everything could be removed: {error.strerror}",
            str(error.filename or root.resolve()),
            "mend that, then run the same command again",
        ) from None
    with opened_gradebook(root) as book:
        if book is not None:
            from nbgrader.api import Student

            for learner in sorted(gone):
                if book.db.get(Student, learner) is not None:
                    book.remove_student(learner)
    return staying


def _delete(path: Path) -> None:
    """A folder with all that is in it; of a link only the link."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
    else:
        shutil.rmtree(path)


def _out_of_lists(root: Path, gone: set[str], with_uploads: bool) -> list[str]:
    staying = []
    for upload in uploads_in(root):
        mine = [line for line in upload.lines if line.learner in gone]
        folder = root / "collected" / upload.folder
        if not mine:
            continue
        if with_uploads and all(line in mine or line.status == "junk" for line in upload.lines):
            shutil.rmtree(folder)
            continue
        if with_uploads:
            _delete_files(folder, mine, gone)
            staying += [str(one.relative_to(root)) for one in sorted(folder.glob("upload/*"))]
        lines = (_nobodys(line, with_uploads) if line in mine else line for line in upload.lines)
        write_list(root, replace(upload, lines=tuple(lines)))
    return staying


def _nobodys(line: Line, nameless: bool) -> Line:
    """What a list says of a removed learner's file. Beside its file the name stays: it is what the upload calls it."""
    name = "" if nameless else line.name
    return replace(line, name=name, learner="", lesson="", status="removed", why="", account="", beside="")


def _delete_files(upload: Path, lines: Sequence[Line], learners: Collection[str]) -> None:
    """Delete what an upload keeps of these learners."""
    for learner in learners:
        if (replaced := _folder(upload, "replaced", learner)) is not None:
            _delete(replaced)
    for line in lines:
        kept = upload / line.kept
        if kept.is_file() and kept.resolve().is_relative_to(upload.resolve()):
            kept.unlink()
            # An empty folder may be called by the learner's name.
            with contextlib.suppress(OSError):
                os.removedirs(kept.parent)


def _out_of_state(root: Path, gone: set[str]) -> None:
    """What runs remember of submissions."""
    if (root / ".course" / "run.json").is_file():
        state = RunState(root)
        state.penalties = {key: told for key, told in state.penalties.items() if key.partition("/")[2] not in gone}
        state.forced = {key for key in state.forced if key.partition("/")[2] not in gone}
        state.save()
