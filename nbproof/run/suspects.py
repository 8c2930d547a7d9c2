"""What was being marked when a run was killed: tried again last, alone, in a process of its own.

A run notes each submission before it marks it, and takes the note away afterwards. Notes that are there when a run begins
are of a run that nobody ended on purpose: one of those submissions may have ended it. Each is tried where it can end no
more than the attempt; what does so is set aside, reported, and left alone until it is handed in anew or asked for by force.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from nbproof.files import digest_of, replace_file
from nbproof.key import Key
from nbproof.marking.hand_in import HandIn
from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import Damaged
from nbproof.run.plan import Job
from nbproof.run.pool import Reader, outcome

__all__ = ["InProgress", "Standing", "tried_last"]


class Standing(Enum):
    """What a note says of a submission."""

    STARTED = "started"
    """A run was marking it when it ended."""
    SET_ASIDE = "set aside"
    """It ended the process that tried it alone."""


class InProgress:
    """The notes of a course, in ``.course/marking/``. May be written from several threads."""

    def __init__(self, root: Path) -> None:
        self._folder = root / ".course" / "marking"

    def _path(self, key: Key) -> Path:
        return (
            self._folder / f"{digest_of(key.learner.encode(errors='surrogateescape'), key.lesson.encode())[:24]}.json"
        )

    def write(self, job: Job, standing: Standing) -> None:
        """Note it. The kernel keeps it whatever becomes of this process; a power cut is no submission's doing."""
        self._folder.mkdir(parents=True, exist_ok=True)
        key = job.submission.key
        told = {"learner": key.learner, "lesson": key.lesson, "digest": job.handed_in, "standing": standing.value}
        replace_file(self._path(key), json.dumps(told).encode())

    def of(self, job: Job) -> Standing | None:
        """What is noted of just this submission; None if nothing is, or if it was handed in anew."""
        try:
            kept = json.loads(self._path(job.submission.key).read_bytes())
            standing, same = Standing(kept["standing"]), kept["digest"] == job.handed_in
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return standing if same else None

    def done(self, key: Key) -> None:
        """It was marked, and what came of that is written down."""
        _unlink_started(self._path(key))

    def end(self) -> None:
        """The run ends as runs do, if only by Ctrl-C: whatever was in progress did not end it."""
        for path in self._folder.glob("*.json"):
            _unlink_started(path)


def _unlink_started(path: Path) -> None:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        if json.loads(path.read_bytes())["standing"] == Standing.STARTED.value:
            path.unlink()


def tried_last(
    job: Job,
    notes: InProgress,
    read: Reader,
    alone: Callable[[HandIn], Verdict],
    seed: int,
    force: bool,
    again: str,
) -> Verdict:
    """The verdict on what is noted when a run begins, or why there is none. To be called when all others are marked.

    ``alone``: see :attr:`nbproof.run.pool.Pool.alone`. ``force``: try also what was set aside. ``again``: the command that
    tries it once more.
    """
    told = "it ended the process that marked it, so it was set aside"
    if force or notes.of(job) is not Standing.SET_ASIDE:
        found = outcome(lambda: alone(read(job)))
        if isinstance(found, Verdict):
            return found
        if isinstance(found, (Damaged, OSError)):
            return Verdict.refused(*job.submission.key, seed, str(found))
        notes.write(job, Standing.SET_ASIDE)
        told = (
            "it was being marked when a run was killed; tried again alone, it ended that process, too, "
            "so it was set aside"
        )
    problem = f"{told}. Look at what was handed in; to try it once more: {again}"
    return Verdict.refused(*job.submission.key, seed, problem)
