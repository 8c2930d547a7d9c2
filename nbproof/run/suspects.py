"""What was being marked when a run was killed: tried again last, alone, in a process of its own.

A run notes each submission before it marks it, and takes the note away afterwards. Notes that are there when a run begins
are of a run that nobody ended on purpose: one of those submissions may have ended it. Each is tried where it can end no
more than the attempt; what does so is set aside, reported, and left alone until it is handed in anew or asked for by force.
"""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from enum import Enum
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nbproof.command import course_command
from nbproof.files import digest_of, replace_file
from nbproof.marking.results import SubmissionVerdict

if TYPE_CHECKING:
    from nbproof.run.pool import Job, Pool

__all__ = ["CarefulPool", "InProgress", "Note", "Standing", "in_a_process_of_its_own", "note_of"]


class Standing(Enum):
    """What a note says of a submission."""

    STARTED = "started"
    """A run was marking it when it ended."""
    SET_ASIDE = "set aside"
    """It ended the process that tried it alone."""


@dataclass(frozen=True)
class Note:
    """Of one submission, as it was handed in."""

    learner: str
    lesson: str
    digest: str
    standing: Standing


class InProgress:
    """The notes of a course, in ``.course/marking/``. May be written from several threads."""

    def __init__(self, root: Path) -> None:
        self._folder = root / ".course" / "marking"

    def _path(self, learner: str, lesson: str) -> Path:
        return self._folder / f"{digest_of(learner.encode(errors='surrogateescape'), lesson.encode())[:24]}.json"

    def write(self, note: Note) -> None:
        """Note it. The kernel keeps it whatever becomes of this process; a power cut is no submission's doing."""
        self._folder.mkdir(parents=True, exist_ok=True)
        told = {"learner": note.learner, "lesson": note.lesson, "digest": note.digest, "standing": note.standing.value}
        replace_file(self._path(note.learner, note.lesson), json.dumps(told).encode())

    def of(self, job: Job) -> Standing | None:
        """What is noted of just this submission; None if nothing is, or if it was handed in anew."""
        try:
            kept = json.loads(self._path(job.submission.learner, job.submission.lesson).read_bytes())
            standing, same = Standing(kept["standing"]), kept["digest"] == job.digest
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return standing if same else None

    def done(self, learner: str, lesson: str) -> None:
        """It was marked, and what came of that is written down."""
        _unlink_started(self._path(learner, lesson))

    def end(self) -> None:
        """The run ends as runs do, if only by Ctrl-C: whatever was in progress did not end it."""
        for path in self._folder.glob("*.json"):
            _unlink_started(path)


def _unlink_started(path: Path) -> None:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads(path.read_bytes())["standing"] == Standing.STARTED.value:
            path.unlink()


def note_of(job: Job, standing: Standing) -> Note:
    """What to note of a job."""
    return Note(job.submission.learner, job.submission.lesson, job.digest, standing)


def _by_force(job: Job) -> str:
    return course_command(
        shlex.join(["grade", "--force", "--only", f"{job.submission.learner}/{job.submission.lesson}"])
    )


class CarefulPool:
    """A pool (:class:`nbproof.run.pool.Pool`) in front of which suspects are sorted out, to be tried after the rest.

    ``force``: try also what was set aside.
    """

    def __init__(self, pool: Pool, notes: InProgress, seed: int, force: bool) -> None:
        self._pool, self._notes, self._seed, self._force = pool, notes, seed, force

    def marked(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, SubmissionVerdict]]:
        """See :class:`nbproof.run.pool.Pool`."""
        standing = {id(job): self._notes.of(job) for job in jobs}
        yield from self._pool.marked([job for job in jobs if standing[id(job)] is None])
        for job in jobs:
            noted = standing[id(job)]
            if noted is not None:
                yield job, self._tried(job, noted)

    def apart(self, job: Job) -> SubmissionVerdict:
        """See :class:`nbproof.run.pool.Pool`."""
        return self._pool.apart(job)

    def _tried(self, job: Job, standing: Standing) -> SubmissionVerdict:
        """The verdict on a suspect, or why there is none."""
        if standing is Standing.SET_ASIDE and not self._force:
            return self._refused(job, "it ended the process that marked it, so it was set aside")
        self._notes.write(note_of(job, Standing.STARTED))
        try:
            return self._pool.apart(job)
        except BrokenProcessPool:
            self._notes.write(note_of(job, Standing.SET_ASIDE))
            told = "it was being marked when a run was killed; tried again alone, it ended that process, too, so it was set aside"
            return self._refused(job, told)

    def _refused(self, job: Job, told: str) -> SubmissionVerdict:
        one = job.submission
        problem = f"{told}. Look at what was handed in; to try it once more: {_by_force(job)}"
        return SubmissionVerdict(one.learner, one.lesson, self._seed, (), {}, {}, problem=problem)


_T = TypeVar("_T")


def in_a_process_of_its_own(work: Callable[[], _T]) -> _T:
    """What ``work``, which can be pickled, returns or raises. Raises BrokenProcessPool if its process ends."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        return other.submit(_first_to_go, work).result()


def _first_to_go(work: Callable[[], _T]) -> _T:
    with contextlib.suppress(OSError):
        # Should memory run out on the machine, this process goes first.
        Path("/proc/self/oom_score_adj").write_text("1000")
    return work()
