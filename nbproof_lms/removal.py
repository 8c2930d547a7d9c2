"""Take learners out of a course: out of every folder, the gradebook, and the lists of what came."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbproof.errors import CourseError
from nbproof.feedback.handed_back import forget_handed_back
from nbproof.gradebook.reader import due_dates_in, opened_gradebook
from nbproof.run.journal import RunState, forget_problems
from nbproof_lms.earlier import uploads_in, write_list
from nbproof_lms.handed_out import pages_of, take_out_pages
from nbproof_lms.outcome import Line
from nbproof_lms.roster import members_of, strike_off

__all__ = ["Traces", "remove", "traces"]

FOLDERS = ("submitted", "autograded", "feedback")


@dataclass
class Traces:
    """All that a course holds of one learner. Paths are relative to the course's folder."""

    learner: str
    folders: list[str] = field(default_factory=list)
    on_roster: bool = False
    lessons: int = 0
    """Of which the gradebook has a submission."""
    in_gradebook: bool = False
    by_hand: int = 0
    """Marks and comments that people gave, which nothing brings back."""
    extensions: dict[str, datetime] = field(default_factory=dict)
    """Lesson -> until when, which nothing brings back either."""
    uploads: list[str] = field(default_factory=list)
    """Folders in collected/ whose lists name the learner."""

    @property
    def anything(self) -> bool:
        """Whether there is anything to remove."""
        return bool(self.folders or self.on_roster or self.in_gradebook or self.uploads)


def traces(root: Path, learners: Sequence[str]) -> list[Traces]:
    """What there is of each. Raises CourseError if the gradebook or the roster cannot be read."""
    found = {learner: Traces(learner) for learner in learners}
    roster = {member.learner for member in members_of(root)}
    for learner, one in found.items():
        one.on_roster = learner in roster
        one.folders = [f"{name}/{learner}" for name in FOLDERS if _folder(root, name, learner) is not None]
        one.folders += [f"their pages in {path}" for path in pages_of(root, {learner})]
    for upload in uploads_in(root):
        for learner in {line.learner for line in upload.lines} & (set(found) - {""}):
            found[learner].uploads.append(upload.folder)
    with opened_gradebook(root) as book:
        if book is not None:
            for one in found.values():
                _count(book, one.learner, one)
    return list(found.values())


def _folder(root: Path, name: str, learner: str) -> Path | None:
    """A learner's own folder, or a link in its place; None if there is none, or the name leads somewhere else."""
    path = root / name / learner
    if learner in {"", ".", ".."} or Path(learner).name != learner or "\0" in learner or not os.path.lexists(path):
        return None
    return path


def _count(book: Any, learner: str, one: Traces) -> None:
    from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook

    one.in_gradebook = book.db.get(Student, learner) is not None
    extensions = due_dates_in(book).extensions
    one.extensions = {lesson: until for (whose, lesson), until in extensions.items() if whose == learner}
    own = book.db.query(SubmittedAssignment.id).filter(SubmittedAssignment.student_id == learner)
    one.lessons = own.count()
    notebooks = [row.id for row in book.db.query(SubmittedNotebook.id).filter(SubmittedNotebook.assignment_id.in_(own))]
    for kind, given in ((Grade, Grade.manual_score), (Comment, Comment.manual_comment)):
        one.by_hand += book.db.query(kind.id).filter(kind.notebook_id.in_(notebooks), given.isnot(None)).count()


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
