"""What `nbgrader autograde` may copy of a submission: looked at first, by the limits that `course grade` has.

nbgrader asks its course directory where a submission lies, and copies all that it finds there, whatever links point at.
It is told of a folder of ours instead, which holds the regular files that may be read, and as many of them as may.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import cast

from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc

from nbproof.command import course_command
from nbproof.errors import CourseError
from nbproof.gradebook.graded_notebook import RECEIPTS, receipt_in, time_in
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import read_attachments
from nbproof.run.intake import submission_at
from nbproof.text import printable, some_of

__all__ = ["NotGradable", "VettedCourse"]

_SHOWN = 5


class NotGradable(CourseError):
    """A submission that nbgrader must not touch. Everybody else is graded."""


class VettedCourse(CourseDirectory):  # type: ignore[misc]
    """The course directory for one run of ``nbgrader autograde``."""

    def __init__(self, course: CourseDirectory, limits: GradingLimits, say: Callable[[str], None]) -> None:
        """``course``: what it stands in for. ``say``: told in words what of a submission is left out."""
        super().__init__(parent=course.parent, **{name: getattr(course, name) for name in course.traits(config=True)})
        self._limits, self._say = limits, say
        self._shown = ("", "")
        # Within a folder that nobody else may enter.
        home = tempfile.mkdtemp(prefix="vetted-")
        self._scratch = Path(home, "submission")
        weakref.finalize(self, shutil.rmtree, home, ignore_errors=True)

    def format_path(self, nbgrader_step: str, student_id: str, assignment_id: str, escape: bool = False) -> str:
        """Where something lies. Raises NotGradable for a submission that must not be copied."""
        place = cast(str, super().format_path(nbgrader_step, student_id, assignment_id, escape))
        if nbgrader_step != self.submitted_directory or escape:
            return place
        graded = super().format_path(self.autograded_directory, student_id, assignment_id)
        try:
            self.refuse(student_id, assignment_id)
        except NotGradable:
            # What is graded already is not given up for what came later.
            if not os.path.exists(graded):
                raise
            return self._empty()
        return self._copied(Path(place), student_id, assignment_id)

    def refuse(self, learner: str, lesson: str) -> None:
        """Raise NotGradable if there is nothing that could be graded."""
        folder = Path(super().format_path(self.submitted_directory, learner, lesson))
        one = submission_at(learner, folder)
        told = one.problem
        if not told and one.path != folder / f"{lesson}.ipynb":
            told = f"the notebook is called {printable(one.path.name)}, and nbgrader wants {lesson}.ipynb"
        if told:
            raise NotGradable(
                f"{learner} is not graded: {told}", str(folder),
                f"have it handed in again, or try {course_command('grade')}, which forgives more",
            )  # fmt: skip

    def get_existing_timestamp(self, dest_path: str) -> datetime | None:
        """The time in a folder's timestamp.txt; None if nothing sensible stands there."""
        told = time_in(Path(dest_path, RECEIPTS[0]))
        return cast(datetime, parse_utc(told)) if told else None

    def _empty(self) -> str:
        """A folder with nothing in it."""
        self._shown = ("", "")
        if self._scratch.exists():
            shutil.rmtree(self._scratch)
        self._scratch.mkdir()
        return str(self._scratch)

    def _copied(self, folder: Path, learner: str, lesson: str) -> str:
        """A folder with what may be read of a submission. One is kept at a time."""
        if self._shown == (learner, lesson):
            return str(self._scratch)
        place = Path(self._empty())
        left_out: list[str] = []
        files = read_attachments(
            folder, folder / f"{lesson}.ipynb", self._limits.attachment_mb << 20, left_out.append
        )  # fmt: skip
        for name, data in files.items():
            if name.split(os.sep)[0] not in RECEIPTS:
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(data)
        for name, text in zip(RECEIPTS, vars(receipt_in(folder)).values(), strict=True):
            if text:
                (place / name).write_text(text)
        # nbgrader looks whether there is one. It is read elsewhere, and not by nbgrader.
        (place / f"{lesson}.ipynb").touch()
        if left_out:
            told = some_of([printable(one) for one in left_out], _SHOWN, "; ")
            self._say(
                f"{learner}: left out of what is graded: {told} (in {folder}). "
                "If an answer needs it, have the file itself handed in, and grade again with --force"
            )
        self._shown = (learner, lesson)
        return str(place)
