"""A run that nbgrader drives, one submission after another: noted as a class's are, and what ended a run comes last, alone."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from nbproof.command import nbgrader_command
from nbproof.limits import GradingLimits
from nbproof.marking.results import SubmissionVerdict
from nbproof.run.changes import handed_in_digest
from nbproof.run.intake import submission_at
from nbproof.run.pool import Job
from nbproof.run.suspects import InProgress, Standing, Suspects, note_of

__all__ = ["LastPlace", "OneByOne", "once_more"]

Key = tuple[str, str]
"""Learner, lesson."""


class LastPlace(str):
    """A submission's folder that comes after all others. nbgrader goes through the folders in their order as text."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return isinstance(other, LastPlace) and str.__lt__(self, other)

    def __gt__(self, other: str) -> bool:
        return not isinstance(other, LastPlace) or str.__gt__(self, other)


class OneByOne:
    """The notes of one run of ``nbgrader autograde``."""

    def __init__(self, notes: InProgress, key: str, limits: GradingLimits, whose: Mapping[str, Key]) -> None:
        """``key``: of the course's journals; ``whose``: learner and lesson of each folder that may be marked."""
        self._notes, self._key, self._limits = notes, key, limits
        self._jobs = {of: self._job(of[0], Path(place)) for place, of in whose.items()}
        self._standing = {of: notes.of(job) for of, job in self._jobs.items()}
        self._open: Key | None = None

    def _job(self, learner: str, folder: Path) -> Job:
        one = submission_at(learner, folder)
        return Job(one, "" if one.problem else handed_in_digest(one, self._key, self._limits))

    def is_suspect(self, of: Key) -> bool:
        """Whether it may have ended an earlier run."""
        return self._standing.get(of) is not None

    @property
    def cut_off(self) -> list[Key]:
        """What was being marked when an earlier run was killed."""
        return [of for of, noted in self._standing.items() if noted is Standing.STARTED]

    def begin(self, of: Key, suspects: Suspects) -> SubmissionVerdict | None:
        """Note it; the verdict on a suspect, which is marked by that. To be called before it is read."""
        self.end()
        job, noted = self._jobs[of], self._standing[of]
        self._open = of
        if noted is None:
            self._notes.write(note_of(job, Standing.STARTED))
            return None
        return suspects.tried(job, noted)

    def end(self) -> None:
        """What was begun is written down, or has failed; it has ended nothing."""
        if self._open is not None:
            self._notes.done(*self._open)
            self._open = None


def once_more(job: Job) -> str:
    """For :attr:`Suspects.again`."""
    learner = shlex.quote(job.submission.learner)
    return nbgrader_command(f"autograde {job.submission.lesson} --student={learner} --force")
