"""Where submissions are marked side by side: an executor of ``concurrent.futures``, here threads of this process, each with a
sealed worker at a time. A submission that ended the place where it was marked is tried last and alone. If it does so again, it
is given up. Another pool is a package's next door: :func:`pool_named`.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from nbproof.course_file import Course
from nbproof.doors import POOLS
from nbproof.errors import CourseError
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import Damaged, HandIn
from nbproof.sandbox.exceptions import EngineLost
from nbproof.sandbox.isolation import Isolation
from nbproof.sandbox.launch import Launched
from nbproof.text import in_one_line

__all__ = ["Pool", "PoolDoor", "PoolMaker", "Reader", "local_pool", "marked", "pool_named", "verdict_or_error"]


@dataclass
class Pool:
    """Marks a class. It writes nothing."""

    submit: Callable[[HandIn], Future[Verdict]]
    """Gives a hand-in to an executor that marks it. The future raises nothing for what a learner handed in."""
    room: int
    """How many may be on their way. A pool that grows or shrinks while it marks changes it."""
    alone: Callable[[HandIn], Verdict]
    """Marks a hand-in in a process of its own. Raises BrokenProcessPool if the hand-in ends that process."""


PoolMaker = Callable[[Mapping[str, Blueprint], int, GradingLimits], contextlib.AbstractContextManager[Pool]]
"""Makes the pool that marks one class. Called only if there is something to mark."""


class PoolDoor(Protocol):
    """What a package next door has as a pool (:data:`nbproof.doors.POOLS`)."""

    def __call__(
        self, address: str, *, isolation: Isolation, workers: int | None, says: Callable[[str], object]
    ) -> PoolMaker:
        """``address``: what stands behind the colon, in words of the pool's own; ``isolation``: what a submission must have
        wherever it is marked; ``workers``: how many at a time, if somebody says so; ``says``: takes a line for people on how
        it goes, from any thread. Raises CourseError."""


def pool_named(
    text: str,
    place: str,
    *,
    isolation: Isolation,
    workers: int | None = None,
    says: Callable[[str], object] = print,
) -> PoolMaker | None:
    """The pool of ``NAME`` or ``NAME:ADDRESS``, as read at ``place``; None for this machine's own. Raises UsageError."""
    name, _, address = text.partition(":")
    if name in ("", *POOLS.own):
        return None
    door: PoolDoor = POOLS.load(name, place, fits=callable)
    return door(address, isolation=isolation, workers=workers, says=says)


Reader = Callable[[HandIn], HandIn]
"""Reads what was handed in, just before it is marked. Raises Damaged or OSError."""


def marked(pool: Pool, jobs: Sequence[HandIn], read: Reader, seed: int) -> Iterator[tuple[HandIn, Verdict]]:
    """Mark these jobs; yields each with its verdict as soon as it is there."""
    waiting, again = deque(jobs), list[HandIn]()
    flying: dict[Future[Verdict], HandIn] = {}
    while waiting or flying:
        while waiting and len(flying) < pool.room:
            job = waiting.popleft()
            try:
                flying[pool.submit(read(job))] = job
            except (Damaged, OSError) as error:
                yield job, Verdict(*job.key, seed, problem=str(error))
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            job, found = flying.pop(future), verdict_or_error(future.result)
            if isinstance(found, Verdict):
                yield job, found
            else:
                again.append(job)
    for job in again:
        yield job, _second_try(pool, job, read, seed)


def _second_try(pool: Pool, job: HandIn, read: Reader, seed: int) -> Verdict:
    found = verdict_or_error(lambda: pool.submit(read(job)).result())
    if isinstance(found, Verdict):
        return found
    if isinstance(found, (Damaged, OSError)):
        return Verdict(*job.key, seed, problem=str(found))
    said = in_one_line(found)
    why = f"what marked it ended twice ({type(found).__name__}: {said}); look at it, and grade it again by itself"
    return Verdict(*job.key, seed, problem=why, grader_failed=True)


def verdict_or_error(marks: Callable[[], Verdict]) -> Verdict | Exception:
    """The verdict, or the error that ended the place where it was marked. Nobody knows which submission caused that error."""
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
    course: Course,
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
    given = {name: getattr(limits, name) for name in limits.traits(config=True)}

    def alone(one: HandIn) -> Verdict:
        blueprint = replace(blueprints[one.key.lesson])  # without what it has cached
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
            return other.submit(_alone, blueprint, seed, given, isolation, one).result()

    with Engine(course, limits, isolation, launched, fit.processes) as engine:
        mark = Marker(engine, blueprints, seed).mark
        try:
            # As many again wait for their turn, so that nobody idles while a verdict is written down.
            yield Pool(lambda one: threads.submit(mark, one), 2 * fit.workers, alone)
        finally:
            # A run that is interrupted does not wait for a learner's code: that ends with the engine.
            threads.shutdown(wait=False, cancel_futures=True)


def _alone(blueprint: Blueprint, seed: int, given: dict[str, Any], isolation: Isolation, one: HandIn) -> Verdict:
    """The verdict, for :attr:`Pool.alone`. This runs in a fresh process, which ends with it."""
    with contextlib.suppress(OSError):
        # Should memory run out on the machine, this process goes first.
        Path("/proc/self/oom_score_adj").write_text("1000")
    limits = GradingLimits(**given)
    with local_pool(
        blueprint.course, {blueprint.slug: blueprint}, seed, limits, isolation=isolation, workers=1
    ) as pool:
        return pool.submit(one).result()
