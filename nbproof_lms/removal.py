"""Take learners out of a course: out of every folder, the gradebook, and the lists of what came."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from nbproof.errors import CourseError
from nbproof.gradebook.reader import opened_gradebook
from nbproof.places import places
from nbproof.run.journal import forget_problems
from nbproof_lms.handback import is_in_parcels
from nbproof_lms.outcome import Line, uploads_in, write_list
from nbproof_lms.roster import ROSTER, strike_off

__all__ = ["GOES", "remove"]

GOES = (
    "out of submitted/, autograded/, feedback/, the gradebook with all marks, comments and extensions given by hand, "
    f"{ROSTER}, and the lists in collected/, where their files stay. handback/ goes whole: the pages of others are packed again"
)
"""What is lost with a learner: nothing brings it back."""


def _folders(root: Path, learner: str) -> list[Path]:
    """A learner's own folders, or links in their place; none if the name leads somewhere else."""
    if learner in {"", ".", ".."} or Path(learner).name != learner or "\0" in learner:
        return []
    found = (places(root).base(step) / learner for step in ("submitted", "autograded", "feedback"))
    return [path for path in found if os.path.lexists(path)]


def remove(root: Path, learners: Collection[str]) -> None:
    """Remove these learners. The journals go before the gradebook: a run that comes after a cut brings nobody back.

    What came in uploads stays byte for byte, but lists no longer say whose it was. Raises CourseError.
    """
    gone = set(learners)
    try:
        for learner in sorted(gone):
            for path in _folders(root, learner):
                _delete(path)
        if any(is_in_parcels(root, learner) for learner in gone):
            shutil.rmtree(root / "handback")
        _out_of_lists(root, gone)
        forget_problems(root, gone)
        # Late, so that the same command finds them again after a cut.
        strike_off(root, gone)
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


def _delete(path: Path) -> None:
    """A folder with all that is in it; of a link only the link."""
    if path.is_symlink() or not path.is_dir():
        path.unlink()
    else:
        shutil.rmtree(path)


def _out_of_lists(root: Path, gone: set[str]) -> None:
    for upload in uploads_in(root):
        if gone & {line.learner for line in upload.lines}:
            lines = (_nobodys(line) if line.learner in gone else line for line in upload.lines)
            write_list(root, replace(upload, lines=tuple(lines)))


def _nobodys(line: Line) -> Line:
    """What a list says of a removed learner's file. Beside its file the name stays: it is what the upload calls it."""
    return replace(line, learner="", lesson="", status="removed", why="", account="", beside="")
