"""Where submissions are marked side by side: in threads of this process, each with a sealed worker at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.pool import ThreadPool
from typing import Protocol

from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, Damaged
from nbproof.marking.marker import Marker
from nbproof.marking.order import Order
from nbproof.marking.results import SubmissionVerdict
from nbproof.run.plan import Job
from nbproof.run.suspects import in_a_process_of_its_own
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import EngineLost
from nbproof.sandbox.isolation import Isolation
from nbproof.sandbox.launch import Launched
from nbproof.sandbox.machine import room_here

__all__ = ["LocalPool", "Pool", "Reader"]


Reader = Callable[[Job], Order]
"""Reads what was handed in, just before it is marked. Raises Damaged or OSError. May be called from several threads."""


class Pool(Protocol):
    """What marks a class. Writes nothing."""

    def marked(self, jobs: Sequence[Job], read: Reader) -> Iterator[tuple[Job, SubmissionVerdict]]:
        """Each job once, as it is done, in any order. Never raises for what a learner handed in."""
        ...

    def apart(self, order: Order) -> SubmissionVerdict:
        """Mark one where it can end nothing but the attempt. Raises BrokenProcessPool if it has ended that."""
        ...


class LocalPool:
    """This machine, ``workers`` submissions at a time; as many as it has room for if nobody says how many."""

    def __init__(
        self,
        blueprints: Mapping[str, Blueprint],
        seed: int,
        limits: GradingLimits,
        *,
        isolation: Isolation,
        workers: int | None = None,
        launched: Launched | None = None,
    ) -> None:
        self._blueprints, self._seed, self._limits = blueprints, seed, limits
        self._isolation, self._launched = isolation, launched
        self._fit = room_here().fit(limits.processes, limits.memory_mb, workers)

    def marked(self, jobs: Sequence[Job], read: Reader) -> Iterator[tuple[Job, SubmissionVerdict]]:
        """See :class:`Pool`."""
        if not jobs:
            return
        count = min(self._fit.workers, len(jobs))
        # What was started in advance serves the first round.
        launched, self._launched = self._launched, None
        with Engine(self._limits, self._isolation, launched, self._fit.processes) as engine:
            marker = Marker(engine, self._blueprints, self._seed)

            def one(job: Job) -> tuple[Job, SubmissionVerdict]:
                try:
                    order = read(job)
                except (Damaged, OSError) as error:
                    return job, marker.refuse(job.submission.learner, job.submission.lesson, str(error))
                try:
                    return job, marker.mark(order)
                except EngineLost:
                    # The zygote ended, and every worker with it. Whose doing that was nobody knows: each gets one more try.
                    return job, _once_more(marker, order)

            # A run that is interrupted does not wait for a learner's code: these threads end with the process.
            with ThreadPool(count) as threads:
                yield from threads.imap_unordered(one, jobs)

    def apart(self, order: Order) -> SubmissionVerdict:
        """In a fresh process of this machine, with an engine of its own."""
        given = {name: getattr(self._limits, name) for name in self._limits.traits(config=True)}
        blueprint = replace(self._blueprints[order.lesson])  # without what it has cached
        return in_a_process_of_its_own(partial(_one_alone, order, blueprint, self._seed, given, self._isolation))


def _one_alone(
    order: Order, blueprint: Blueprint, seed: int, given: dict[str, float], isolation: Isolation
) -> SubmissionVerdict:
    with Engine(GradingLimits(**given), isolation) as engine:
        return Marker(engine, {blueprint.lesson: blueprint}, seed).mark(order)


def _once_more(marker: Marker, order: Order) -> SubmissionVerdict:
    try:
        return marker.mark(order)
    except EngineLost as error:
        why = f"the grading engine ended twice while this was being marked ({error.fact}); grade it again by itself"
        return marker.refuse(order.learner, order.lesson, why)
