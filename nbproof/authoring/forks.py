"""Run trials, each in a process of its own, some at once.

A server process imports what lessons need once and never computes with it (OpenMP's thread pools do not survive a fork). A fork
of it prepares what the trials of one exercise share, and every trial is a fork of that, some hundredths of a second old.
Nothing is tried where there is no fork, on Windows.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import pickle
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil
from multiprocessing import connection, forkserver, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from nbproof.authoring.trial import Trial, Tried, prepare, try_candidate
from nbproof.course_file import Course
from nbproof.errors import CourseError, UsageError
from nbproof.interrupt import for_this_process_only
from nbproof.values.leaf import refuse_broken_leaves
from nbproof.values.words import words_of

__all__ = ["WARM_FOR", "fork_server", "run_trials", "settle"]

WARM_FOR = "NBPROOF_WARM_FOR"
"""The environment variable that tells the server for which course it imports: where the course.toml lies."""
_SHARES = 8
"""At least so many shares of the trials for each worker: the workers end at about the same time, also with few trials."""

_Numbered = tuple[int, Trial]


def fork_server(course: Course, *more: str) -> Any:
    """What starts processes that have all that lessons import, and these modules.

    Raises UsageError if a leaf type or the language of the course cannot be had.
    """
    refuse_broken_leaves(course)
    words_of(course)
    os.environ[WARM_FOR] = str(course.folder)
    if os.name != "posix":
        raise UsageError(
            "answers are tried in forks, which this system lacks", sys.platform, "see docs/engine.md, 'In a container'"
        )
    context: Any = get_context("forkserver")
    context.set_forkserver_preload(["nbproof.authoring.trial", "nbproof.authoring.warm", *more])
    with for_this_process_only():
        forkserver.ensure_running()
    return context


def run_trials(trials: Sequence[Trial]) -> Iterator[tuple[int, Tried]]:
    """Run the trials; yields (index, outcome) as they end. Raises UsageError if a leaf type's library is missing."""
    context = fork_server(trials[0].course)
    workers = os.cpu_count() or 2
    waiting = deque(_alike(trials, max(8, len(trials) // (_SHARES * workers))))
    running: dict[Connection, _Group] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    group = _Group(context, waiting.popleft(), Path(scratch))
                    running[group.pipe] = group
                for pipe in cast("list[Connection]", connection.wait(list(running))):
                    yield from running[pipe].received()
                    if not running[pipe].left:
                        running.pop(pipe).end()
        finally:
            for group in running.values():
                group.end()


def _alike(trials: Sequence[Trial], together: int) -> Iterator[list[_Numbered]]:
    """The trials in their order, together where they share setup and test cells, up to a number."""
    for _, alike in itertools.groupby(enumerate(trials), key=lambda one: (one[1].setup, one[1].tests)):
        some = list(alike)
        yield from (some[at : at + together] for at in range(0, len(some), together))


class _Group:
    """A process that prepares for some trials, and what is still to come from it."""

    def __init__(self, context: Any, trials: list[_Numbered], scratch: Path) -> None:
        self.left = deque(trials)
        self.pipe, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_serve, args=(trials, theirs, scratch), daemon=True)
        self._process.start()
        theirs.close()

    def received(self) -> Iterator[tuple[int, Tried]]:
        """What has come: an outcome, or the end of the process, and with it of all its trials that are left."""
        try:
            outcome = self.pipe.recv()
            if isinstance(outcome, tuple):
                fact, place, step = outcome
                raise CourseError(fact, place, step)
        except (EOFError, OSError):
            while self.left:
                yield self.left.popleft()[0], Tried(ended="died")
        else:
            yield self.left.popleft()[0], outcome

    def end(self) -> None:
        """End the process, and the trial that it may be running."""
        if self._process.is_alive():
            with contextlib.suppress(OSError):  # it has not come to a group of its own yet
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.join()


def _serve(trials: list[_Numbered], pipe: Connection, scratch: Path) -> None:
    """Prepare, then send the outcome of one trial after the other. Of the terminal's Ctrl-C nothing is heard here."""
    from nbproof.authoring.warm import TROUBLE

    os.setpgid(0, 0)
    if TROUBLE:
        pipe.send(TROUBLE)
        return
    number, first = trials[0]
    place, said = scratch / str(number), scratch / f"{number}.stderr"
    os.dup2(os.open(said, os.O_CREAT | os.O_WRONLY | os.O_APPEND), 2)  # also of what C++ writes
    settle(place, first.files)
    signal.alarm(ceil(first.limit))  # ends the process if its setup never ends
    errors = prepare(first)
    signal.alarm(0)
    # Collecting garbage in a trial would visit, and thereby copy, all that is shared.
    gc.collect()
    gc.freeze()
    by_then = said.stat().st_size
    for number, trial in trials:
        outcome = _forked(trial, place / str(number))
        with said.open("rb") as file:
            stderr = file.read(100_000).decode(errors="replace")
        os.truncate(said, by_then)
        pipe.send(replace(outcome, errors=errors + outcome.errors, stderr=stderr))


def settle(place: Path, files: Path | None) -> None:
    """Work in a new folder with what lies beside the notebook."""
    place.mkdir()
    os.environ["HOME"] = os.environ["IPYTHONDIR"] = str(place)
    os.chdir(place)
    if files is not None:
        shutil.copytree(files, place, dirs_exist_ok=True)
        sys.path.insert(0, str(place))


def _forked(trial: Trial, place: Path) -> Tried:
    """The outcome of a trial in a fork, which is ended when its time is over."""
    found = place.with_suffix(".tried")
    number = os.fork()
    if number == 0:
        try:
            signal.alarm(ceil(trial.limit))
            found.write_bytes(pickle.dumps(_tried(trial, place)))
        except BaseException:  # ours, not the answer's: a trial notes what an answer raises
            traceback.print_exc()
        finally:
            os._exit(0)
    _, status = os.waitpid(number, 0)
    shutil.rmtree(place, ignore_errors=True)
    if status or not found.exists():
        ending = "timeout" if status == signal.SIGALRM else "died"
        return Tried(ended=ending)
    return cast("Tried", pickle.loads(found.read_bytes()))  # noqa: S301 (written by our own fork)


def _tried(trial: Trial, place: Path) -> Tried:
    """The outcome of a trial in this process."""
    settle(place, trial.files)
    start = time.perf_counter()
    outcome = try_candidate(trial)
    return replace(outcome, seconds=time.perf_counter() - start)
