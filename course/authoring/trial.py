"""Try one candidate against an exercise's tests, in a forked process of its own.

A server process imports torch once and never computes with it (OpenMP's thread pools do not survive
a fork); every trial is a fork of that server, some hundredths of a second old. Authors' code is
trusted here: what learners hand in is for the graders.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import Any

import torch
from IPython.core.interactiveshell import InteractiveShell

# Imported for the forks' sake: every trial finds them loaded.
import course  # noqa: F401
from course.case import Case
from course.checking import collecting, listing, seeds_of
from course.results import Finding

with contextlib.suppress(ImportError):
    import matplotlib
    import torchvision.models.feature_extraction  # noqa: F401

    matplotlib.use("agg")

__all__ = ["Outcome", "Trial", "run_trials"]


@dataclass(frozen=True)
class Trial:
    """What to run: read-only cells, then per seed the candidate's cell and the test cells."""

    setup: tuple[str, ...]
    candidate: str
    tests: tuple[tuple[str, str], ...]
    """(grade_id, source) of each test cell."""
    seeds: tuple[int, ...] = (1, 2)
    apart: bool = False
    """Whether to run every truth once in a namespace that holds its test cell and nothing else."""
    limit: float = 60.0
    """Seconds until the trial is ended."""


@dataclass(frozen=True)
class Outcome:
    """What one trial found. ``findings[i][grade_id]`` lists the verdicts under ``seeds[i]``."""

    findings: tuple[dict[str, list[Finding]], ...] = ()
    errors: tuple[str, ...] = ()
    """Exceptions that cells raised, each with the cell's name."""
    stderr: str = ""
    ended: str = ""
    """Why the trial was cut off: 'timeout' or 'died'; empty where it was not."""
    seconds: float = 0.0

    def failing(self, index: int) -> set[str]:
        """The checks that failed under seed number ``index``, as test_id/Check."""
        if self.ended or not self.findings:
            return {self.ended or "nothing ran"}
        verdicts = self.findings[index]
        return {f"{cell}/{one.check}" for cell, found in verdicts.items() for one in found if not one.passed}

    def cells_lost(self, index: int) -> set[str]:
        """The test cells that earn nothing under seed number ``index``."""
        if self.ended or not self.findings:
            return {"all"}
        return {cell for cell, found in self.findings[index].items() if not found or not all(f.passed for f in found)}


def _run(trial: Trial) -> Outcome:
    torch.set_num_threads(1)
    shell = InteractiveShell.instance()
    errors: list[str] = []

    def cell(name: str, source: str) -> None:
        result = shell.run_cell(source, store_history=False, silent=True)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            errors.append(f"{name}: {type(error).__name__}: {error}")

    findings = []
    with contextlib.redirect_stdout(io.StringIO()):
        for number, source in enumerate(trial.setup):
            cell(f"setup cell {number}", source)
        for seed in trial.seeds:
            cell("answer", trial.candidate)
            verdicts: dict[str, list[Finding]] = {}
            for grade_id, source in trial.tests:
                with collecting(seed) as found:
                    cell(grade_id, source)
                verdicts[grade_id] = list(found)
            findings.append(verdicts)
        if trial.apart:
            errors += _truths_apart(trial)
    return Outcome(tuple(findings), tuple(errors))


def _truths_apart(trial: Trial) -> Iterator[str]:
    """Errors of truths that lean on the notebook. A grader runs them where no learner's code has been."""
    for grade_id, source in trial.tests:
        try:
            with listing() as tasks:
                exec(compile(source, grade_id, "exec"), {"__name__": grade_id})  # noqa: S102 (authors' own code)
            for _, task in tasks:
                case = Case(seeds_of(task, 1)[0])
                task().truth(case)
                dict(task().mistakes(case))
        except Exception as error:
            yield f"{grade_id}, without the notebook: {type(error).__name__}: {error}"


def _child(trial: Trial, pipe: Connection) -> None:
    """In the fork: run, with stderr (also C++'s) in a file, and send the outcome."""
    with tempfile.TemporaryFile() as sink, tempfile.TemporaryDirectory() as scratch:
        os.dup2(sink.fileno(), 2)
        os.environ["HOME"] = os.environ["IPYTHONDIR"] = scratch
        os.chdir(scratch)
        start = time.perf_counter()
        outcome = _run(trial)
        seconds = time.perf_counter() - start
        os.chdir("/")
        sink.seek(0)
        stderr = sink.read(100_000).decode(errors="replace")
    pipe.send(Outcome(outcome.findings, outcome.errors, stderr, seconds=seconds))
    pipe.close()


def run_trials(trials: Sequence[Trial], workers: int | None = None) -> Iterator[tuple[int, Outcome]]:
    """Run the trials, some at once; yields (index, outcome) as they end."""
    context = get_context("forkserver" if os.name == "posix" else "spawn")
    if os.name == "posix":
        context.set_forkserver_preload([__name__])  # type: ignore[union-attr]
    waiting = deque(enumerate(trials))
    running: dict[Connection, tuple[int, Any, float]] = {}
    workers = workers or os.cpu_count() or 2
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                index, trial = waiting.popleft()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_child, args=(trial, theirs), daemon=True)
                process.start()
                theirs.close()
                running[ours] = (index, process, time.monotonic() + trial.limit)
            for pipe in connection.wait(list(running), timeout=0.5):
                index, process, _ = running.pop(pipe)  # type: ignore[arg-type]
                try:
                    outcome = pipe.recv()  # type: ignore[union-attr]
                except EOFError:
                    outcome = Outcome(ended="died")
                process.join()
                yield index, outcome
            for pipe, (index, process, deadline) in list(running.items()):
                if time.monotonic() > deadline:
                    del running[pipe]
                    process.kill()
                    process.join()
                    yield index, Outcome(ended="timeout")
    finally:
        for _, process, _ in running.values():
            process.kill()
