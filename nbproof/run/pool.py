"""Where submissions are marked side by side: any ``concurrent.futures.Executor``, here threads of this process, each with a
sealed worker at a time. What ended the place where it was marked is tried last, alone, and given up if it does so again.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbproof.errors import CourseError
from nbproof.limits import GradingLimits
from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import Damaged
from nbproof.sandbox.exceptions import EngineLost
from nbproof.sandbox.isolation import Isolation
from nbproof.sandbox.launch import Launched

if TYPE_CHECKING:
    # A cluster imports this before anything is known to be marked: "nobody listens" is to be said at once.
    from nbproof.marking.blueprint import Blueprint
    from nbproof.marking.hand_in import HandIn
    from nbproof.run.plan import Job

__all__ = ["Pool", "PoolMaker", "Reader", "in_a_process_of_its_own", "local_pool", "marked", "outcome"]

_SECONDS = 1.0
"""Between two looks at whether the place is still there, if nothing comes from it."""


@dataclass(frozen=True)
class Pool:
    """What marks a class. Writes nothing."""

    submit: Callable[[HandIn], Future[Verdict]]
    """To an executor that marks it. The future raises nothing for what a learner handed in."""
    room: Callable[[], int]
    """How many may be on their way now. Raises ClusterLost if the place is gone."""
    alone: Callable[[HandIn], Verdict]
    """Marks one where it can end nothing but the attempt. Raises BrokenProcessPool if it has ended that."""


PoolMaker = Callable[["Mapping[str, Blueprint]", int, GradingLimits], contextlib.AbstractContextManager[Pool]]
"""Makes the pool that marks one class. Called only if there is something to mark."""

Reader = Callable[["Job"], "HandIn"]
"""Reads what was handed in, just before it is marked. Raises Damaged or OSError."""


def marked(pool: Pool, jobs: Sequence[Job], read: Reader, seed: int) -> Iterator[tuple[Job, Verdict]]:
    """Each job once, as it is done, in any order. Raises GradingError if the place is gone for all of them."""
    again: list[Job] = []
    for job, verdict in _tried(pool, jobs, read, seed, pool.room):
        if isinstance(verdict, Exception):
            again.append(job)
        else:
            yield job, verdict
    for job, verdict in _tried(pool, again, read, seed, lambda: min(1, pool.room())):
        if isinstance(verdict, Exception):
            said = " ".join(str(verdict).split())[:200]
            why = f"what marked it ended twice ({type(verdict).__name__}: {said}); look at it, and grade it again by itself"
            verdict = Verdict.refused(*job.submission.key, seed, why, grader_failed=True)
        yield job, verdict


def _tried(
    pool: Pool, jobs: Sequence[Job], read: Reader, seed: int, room: Callable[[], int]
) -> Iterator[tuple[Job, Verdict | Exception]]:
    waiting = deque(jobs)
    flying: dict[Future[Verdict], Job] = {}
    while waiting or flying:
        free = room() - len(flying)
        while waiting and free > 0:
            job = waiting.popleft()
            try:
                flying[pool.submit(read(job))] = job
                free -= 1
            except (Damaged, OSError) as error:
                yield job, Verdict.refused(*job.submission.key, seed, str(error))
        if not flying:
            time.sleep(_SECONDS if waiting else 0.0)
        for future in wait(flying, _SECONDS, FIRST_COMPLETED).done:
            yield flying.pop(future), outcome(future.result)


def outcome(marks: Callable[[], Verdict]) -> Verdict | Exception:
    """The verdict, or what ended the place where it was marked; whose doing that was nobody knows."""
    try:
        return marks()
    except CourseError as error:
        if isinstance(error, EngineLost):
            return error
        raise
    except Exception as error:
        return error


@contextlib.contextmanager
def local_pool(
    blueprints: Mapping[str, Blueprint],
    seed: int,
    limits: GradingLimits,
    *,
    isolation: Isolation,
    workers: int | None = None,
    launched: Launched | None = None,
) -> Iterator[Pool]:
    """This machine, ``workers`` submissions at a time; as many as it has room for if nobody says how many."""
    from nbproof.marking.marker import Marker
    from nbproof.sandbox.engine import Engine
    from nbproof.sandbox.machine import room_here

    most = limits.widest()
    fit = room_here().fit(most.processes, most.memory_mb, workers)
    threads = ThreadPoolExecutor(fit.workers)
    with Engine(limits, isolation, launched, fit.processes) as engine:
        mark = Marker(engine, blueprints, seed).mark
        here = partial(local_pool, isolation=isolation, workers=1)
        try:
            # As many again wait for their turn, so that nobody idles while a verdict is written down.
            alone = in_a_process_of_its_own(here, blueprints, seed, limits)
            yield Pool(lambda one: threads.submit(mark, one), lambda: 2 * fit.workers, alone)
        finally:
            # A run that is interrupted does not wait for a learner's code: that ends with the engine.
            threads.shutdown(wait=False, cancel_futures=True)


def in_a_process_of_its_own(
    made: PoolMaker, blueprints: Mapping[str, Blueprint], seed: int, limits: GradingLimits
) -> Callable[[HandIn], Verdict]:
    """For :attr:`Pool.alone`: ``made`` makes the pool in a fresh process, which ends when the verdict is there."""
    given = {name: getattr(limits, name) for name in limits.traits(config=True)}

    def alone(one: HandIn) -> Verdict:
        blueprint = replace(blueprints[one.key.lesson])  # without what it has cached
        with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_first_to_go) as other:
            return other.submit(_alone, made, blueprint, seed, given, one).result()

    return alone


def _alone(made: PoolMaker, blueprint: Blueprint, seed: int, given: dict[str, Any], one: HandIn) -> Verdict:
    with made({blueprint.lesson: blueprint}, seed, GradingLimits(**given)) as pool:
        return pool.submit(one).result()


def _first_to_go() -> None:
    with contextlib.suppress(OSError):
        # Should memory run out on the machine, this process goes first.
        Path("/proc/self/oom_score_adj").write_text("1000")
