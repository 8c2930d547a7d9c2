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
import shutil
import signal
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil
from multiprocessing import Pipe, connection, forkserver, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, cast

from nbproof.authoring.trial import Trial, Tried, prepare, try_candidate
from nbproof.errors import UsageError
from nbproof.interrupt import for_this_process_only
from nbproof.values.leaf import refuse_missing_leaves

__all__ = ["run_trials"]

_SHARES = 8
"""For each worker, at least: so that the work is shared out evenly to its end, however few trials there are."""
_SPARE = 5.0
"""Seconds until a process that has nothing left to do is ended."""

Numbered = tuple[int, Trial]


def run_trials(trials: Sequence[Trial]) -> Iterator[tuple[int, Tried]]:
    """Run the trials; yields (index, outcome) as they end. Raises UsageError if a leaf type's library is missing."""
    refuse_missing_leaves()
    if os.name != "posix":
        raise UsageError(
            "answers are tried in forks, which this system lacks", sys.platform, "see docs/engine.md, 'In a container'"
        )
    context: Any = get_context("forkserver")
    context.set_forkserver_preload(["nbproof.authoring.trial", "nbproof.authoring.warm"])
    with for_this_process_only():
        forkserver.ensure_running()
    workers = os.cpu_count() or 2
    waiting = deque(_alike(trials, max(8, len(trials) // (_SHARES * workers))))
    running: dict[Connection, _Group] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                group = _Group(context, waiting.popleft())
                running[group.pipe] = group
            for pipe in cast("list[Connection]", connection.wait(list(running))):
                yield from running[pipe].received()
            running = {pipe: group for pipe, group in running.items() if group.left}
    finally:
        for group in running.values():
            group.end()


def _alike(trials: Sequence[Trial], together: int) -> Iterator[list[Numbered]]:
    """The trials in their order, together where they share setup and test cells, up to a number."""
    for _, alike in itertools.groupby(enumerate(trials), key=lambda one: (one[1].setup, one[1].tests)):
        some = list(alike)
        yield from (some[at : at + together] for at in range(0, len(some), together))


class _Group:
    """A process that prepares for some trials, and what is still to come from it."""

    def __init__(self, context: Any, trials: list[Numbered]) -> None:
        self.left = deque(trials)
        self.pipe, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_child, args=(trials, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def received(self) -> Iterator[tuple[int, Tried]]:
        """What has come: an outcome, or the end of the process, which ends all that is left."""
        try:
            outcome = self.pipe.recv()
        except (EOFError, OSError):
            self.end()
            while self.left:
                yield self.left.popleft()[0], Tried(ended="died")
            return
        yield self.left.popleft()[0], outcome
        if not self.left:
            self._process.join(_SPARE)  # it clears up after itself
            self.end()

    def end(self) -> None:
        """End the process, and the trial that it may be running."""
        if not self._process.is_alive():
            return
        with contextlib.suppress(OSError):
            if os.getpgid(self._process.pid) == self._process.pid:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()


def _child(trials: list[Numbered], pipe: Connection) -> None:
    """Prepare, then send the outcome of one trial after the other."""
    os.setpgid(0, 0)
    # From here on the terminal's Ctrl-C goes elsewhere. One that came before is forgotten, and candidates meet
    # the signal as they do in a notebook.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile() as sink:
        os.environ["HOME"] = os.environ["IPYTHONDIR"] = scratch
        os.chdir(scratch)
        _lay_out(trials[0][1].files, Path(scratch))
        os.dup2(sink.fileno(), 2)
        signal.alarm(ceil(trials[0][1].limit))  # ends a process whose setup never ends
        errors, said = prepare(trials[0][1]), _text_of(sink)
        signal.alarm(0)
        # Collecting garbage in a trial would visit, and thereby copy, all that is shared.
        gc.collect()
        gc.freeze()
        for number, (_, trial) in enumerate(trials):
            place = Path(scratch) / str(number)
            place.mkdir()
            _lay_out(trial.files, place)
            outcome = _forked(trial, place)
            pipe.send(replace(outcome, errors=errors + outcome.errors, stderr=said + outcome.stderr))
        os.chdir("/")
    pipe.close()


def _lay_out(files: Path | None, place: Path) -> None:
    """Put what lies beside a notebook where a trial runs, from where it can be imported."""
    if files is not None:
        shutil.copytree(files, place, dirs_exist_ok=True)
        sys.path.insert(0, str(place))


def _forked(trial: Trial, place: Path) -> Tried:
    """The outcome of a trial in a fork, which is ended when its time is over."""
    ours, theirs = Pipe(duplex=False)
    number = os.fork()
    if number == 0:
        try:
            theirs.send(_tried(trial, place))
        finally:
            os._exit(0)
    theirs.close()
    try:
        return cast("Tried", ours.recv()) if ours.poll(trial.limit) else Tried(ended="timeout")
    except (EOFError, OSError):
        return Tried(ended="died")
    finally:
        ours.close()
        os.kill(number, signal.SIGKILL)
        os.waitpid(number, 0)


def _tried(trial: Trial, place: Path) -> Tried:
    """The outcome of a trial in this process, with what it wrote to stderr, be it by C++."""
    os.environ["HOME"] = os.environ["IPYTHONDIR"] = str(place)
    os.chdir(place)
    with tempfile.TemporaryFile() as sink:
        os.dup2(sink.fileno(), 2)
        start = time.perf_counter()
        outcome = try_candidate(trial)
        return replace(outcome, stderr=_text_of(sink), seconds=time.perf_counter() - start)


def _text_of(sink: IO[bytes]) -> str:
    sink.seek(0)
    return sink.read(100_000).decode(errors="replace")
