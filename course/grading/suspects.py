"""What was being marked when a run was killed: tried again last, alone, in a process of its own.

A run notes each submission before it marks it, and takes the note away afterwards. Notes that are there when a run begins
are of a run that nobody ended on purpose: one of those submissions may have ended it. Each is tried where it can end no
more than the attempt; what does so is set aside, reported, and left alone until it is handed in anew or asked for by force.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from course.command import course_command
from course.files import digest_of, replace_file
from course.grading.engine import Engine
from course.grading.isolation import Isolation
from course.grading.marker import Marker
from course.grading.pool import Job, Pool
from course.grading.rebuild import Blueprint, Damaged
from course.grading.results import SubmissionVerdict
from course.limits import GradingLimits

__all__ = ["CarefulPool", "InProgress", "Note", "Standing", "mark_apart", "note_of"]

Apart = Callable[[Job], SubmissionVerdict]


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
        """What is noted of just this submission; None where nothing is, or where it was handed in anew."""
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


class CarefulPool:
    """A pool (:class:`course.grading.pool.Pool`) in front of which suspects are sorted out, to be tried after the rest.

    ``force``: try also what was set aside.
    """

    def __init__(self, pool: Pool, notes: InProgress, apart: Apart, seed: int, force: bool) -> None:
        self._pool, self._notes, self._apart, self._seed, self._force = pool, notes, apart, seed, force

    def marked(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, SubmissionVerdict]]:
        """See :class:`course.grading.pool.Pool`."""
        standing = {id(job): self._notes.of(job) for job in jobs}
        yield from self._pool.marked([job for job in jobs if standing[id(job)] is None])
        for job in jobs:
            if standing[id(job)] is Standing.SET_ASIDE and not self._force:
                yield job, self._refused(job, "it ended the process that marked it, so it was set aside")
            elif standing[id(job)] is not None:
                yield job, self._tried(job)

    def _tried(self, job: Job) -> SubmissionVerdict:
        self._notes.write(note_of(job, Standing.STARTED))
        try:
            return self._apart(job)
        except BrokenProcessPool:
            self._notes.write(note_of(job, Standing.SET_ASIDE))
            told = "it was being marked when a run was killed; tried again alone, it ended that process, too; it was set aside"
            return self._refused(job, told)

    def _refused(self, job: Job, told: str) -> SubmissionVerdict:
        one = job.submission
        again = course_command(f"grade --force --only {one.learner}/{one.lesson}")
        problem = f"{told}. Look at what was handed in; to try it once more: {again}"
        return SubmissionVerdict(one.learner, one.lesson, self._seed, (), {}, {}, problem=problem)


def mark_apart(
    job: Job, blueprints: Mapping[str, Blueprint], seed: int, limits: GradingLimits, isolation: Isolation
) -> SubmissionVerdict:
    """Mark one submission in a fresh process with an engine of its own. Raises BrokenProcessPool where that ends."""
    given = {name: getattr(limits, name) for name in limits.traits(config=True)}
    blueprint = replace(blueprints[job.submission.lesson])  # without what it has cached
    work = partial(_in_another_process, job, blueprint, seed, given, isolation)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        return other.submit(work).result()


def _in_another_process(
    job: Job, blueprint: Blueprint, seed: int, given: dict[str, float], isolation: Isolation
) -> SubmissionVerdict:
    with contextlib.suppress(OSError):
        # Should memory run out on the machine, this process goes first.
        Path("/proc/self/oom_score_adj").write_text("1000")
    limits = GradingLimits(**given)
    with Engine(limits, isolation) as engine:
        marker = Marker(engine, {blueprint.lesson: blueprint}, seed)
        try:
            return marker.mark(job.order(limits))
        except (Damaged, OSError) as error:
            return marker.refuse(job.submission.learner, job.submission.lesson, str(error))
