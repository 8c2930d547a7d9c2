"""Where submissions are marked on more machines: a pool whose places are the processes of a Dask cluster.

Dask decides which process takes a submission and gives it to another if one dies. This module
keeps a bounded number of submissions on the way, lets only such processes take part that would come
to the same verdict (:func:`nbproof.dask.tasks.prepare`), and looks at what comes back.
"""

from __future__ import annotations

import contextlib
import json
import logging
import pickle
import queue
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbproof.dask import tasks
from nbproof.dask.address import Address
from nbproof.dask.workers import Crew
from nbproof.marking.results import STATUSES, SubmissionVerdict
from nbproof.run.suspects import in_a_process_of_its_own
from nbproof.sandbox.isolation import Isolation

if TYPE_CHECKING:
    # Not before there is a cluster: these import what marks, and nbgrader, and "nobody listens" is to be said at once.
    from distributed import Client, Future

    from nbproof.limits import GradingLimits
    from nbproof.marking.blueprint import Blueprint
    from nbproof.marking.order import Order
    from nbproof.run.intake import Submission
    from nbproof.run.plan import Job
    from nbproof.run.pool import Reader

__all__ = ["Cluster", "DaskPool", "connect"]

_TICK = 0.5
"""Seconds between two looks at who is there."""

_RESULT_SECONDS = 20.0

_FRUITLESS = 3
"""Tries after which an order that brings no verdict is its submission's problem."""


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster that answers, and how to use it."""

    client: Client
    address: Address
    isolation: Isolation | None
    """The level that is demanded; None: the best that each worker has."""
    patience: float
    """Seconds to wait for the first worker, and for another if all are gone."""
    say: Callable[[str], None]

    def pool(self, blueprints: Mapping[str, Blueprint], seed: int, limits: GradingLimits) -> DaskPool:
        """The pool that marks one class there."""
        return DaskPool(self, blueprints, seed, limits)


@contextlib.contextmanager
def connect(
    address: str,
    isolation: Isolation | None = None,
    patience: float = 60.0,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[Cluster]:
    """The cluster whose scheduler listens at ``address``.

    Raises UsageError if it is no address or dask is not installed, ClusterLost if nobody answers.
    """
    place = Address.of(address)
    client = place.client()
    # What Dask would log of lost workers and schedulers is said here, in words.
    for name in ("distributed.client", "distributed.core", "distributed.comm", "distributed.batched"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield Cluster(client, place, isolation, patience, say)
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)


class DaskPool:
    """See :class:`nbproof.run.pool.Pool`."""

    def __init__(self, cluster: Cluster, blueprints: Mapping[str, Blueprint], seed: int, limits: GradingLimits) -> None:
        self._cluster, self._blueprints, self._seed, self._limits = cluster, dict(blueprints), seed, limits
        self._given = {name: getattr(limits, name) for name in limits.traits(config=True)}

    def marked(self, jobs: Sequence[Job], read: Reader) -> Iterator[tuple[Job, SubmissionVerdict]]:
        """Each job once, as it is done. Raises ClusterLost if no worker is left, or the scheduler."""
        if not jobs:
            return
        told = self._cluster
        setup = tasks.Setup(self._blueprints, self._seed, self._given, told.isolation)
        crew = Crew(told.client, told.address, tasks.packed(setup), told.patience, told.say)
        try:
            yield from _Round(told, crew, jobs, read, self._blueprints, self._seed).go()
        finally:
            crew.dismiss()

    def apart(self, order: Order) -> SubmissionVerdict:
        """By way of a coordinator of its own, in a fresh process: what ended ours may have been an order or its verdict."""
        blueprint = replace(self._blueprints[order.lesson])  # without what it has cached
        told = self._cluster
        one = partial(
            _one_alone,
            order,
            blueprint,
            self._seed,
            self._given,
            told.address.text,
            told.isolation,
            told.patience,
        )
        return in_a_process_of_its_own(one)


def _one_alone(
    order: Order,
    blueprint: Blueprint,
    seed: int,
    given: dict[str, float],
    address: str,
    isolation: Isolation | None,
    patience: float,
) -> SubmissionVerdict:
    from nbproof.limits import GradingLimits
    from nbproof.run.intake import Submission
    from nbproof.run.plan import Job

    job = Job(Submission(order.learner, order.lesson, Path()), "")
    with connect(address, isolation, patience) as cluster:
        pool = cluster.pool({blueprint.lesson: blueprint}, seed, GradingLimits(**given))
        return next(verdict for _, verdict in pool.marked([job], lambda job: order))


@dataclass
class _Flight:
    """An order on its way."""

    job: Job
    future: Future
    places: frozenset[str]
    """Workers that may take it."""


@dataclass
class _Round:
    """One class on its way through a cluster."""

    cluster: Cluster
    crew: Crew
    jobs: Sequence[Job]
    read: Reader
    blueprints: Mapping[str, Blueprint]
    seed: int
    flying: dict[str, _Flight] = field(default_factory=dict)
    landed: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)
    tries: dict[int, int] = field(default_factory=dict)

    def go(self) -> Iterator[tuple[Job, SubmissionVerdict]]:
        """See :meth:`DaskPool.marked`."""
        self.waiting = deque(self.jobs)
        self.suspects: deque[Job] = deque()
        self.crew.tried = lambda: self.landed.put("")
        due = 0.0
        while self.waiting or self.flying or self.suspects:
            if time.monotonic() >= due:
                if self.crew.look():
                    self._rescue()
                due = time.monotonic() + _TICK
            yield from self._send()
            try:
                key = self.landed.get(timeout=max(0.01, due - time.monotonic()))
            except queue.Empty:
                continue
            if not key:
                due = 0.0
                continue
            done = self._land(key)
            if done is not None:
                yield done

    def _send(self) -> Iterator[tuple[Job, SubmissionVerdict]]:
        """Keep every thread busy, with as much again on the way; more would only fill the scheduler's memory."""
        room = 2 * sum(self.crew.fit.values()) - len(self.flying)
        while room > 0 and self.waiting:
            yield from self._submit(self.waiting.popleft())
            room -= 1
        # What a worker died of may have been a neighbour: on its own, a second time, it says which.
        if self.suspects and self.crew.fit and not self.flying and not self.waiting:
            yield from self._submit(self.suspects.popleft())

    def _submit(self, job: Job) -> Iterator[tuple[Job, SubmissionVerdict]]:
        """Send it off; a verdict at once if there is nothing that could be sent."""
        from nbproof.marking.blueprint import Damaged

        try:
            order = self.read(job)
        except (Damaged, OSError) as error:
            yield job, self._refused(job.submission, str(error))
            return
        key = f"mark-{uuid.uuid4().hex}"
        places = frozenset(self.crew.fit)
        future = self.cluster.client.submit(
            tasks.mark,
            self.crew.run,
            pickle.dumps(order),
            key=key,
            pure=False,
            workers=list(places),
            allow_other_workers=False,
        )
        self.flying[key] = _Flight(job, future, places)
        future.add_done_callback(lambda done: self.landed.put(str(done.key)))

    def _rescue(self) -> None:
        """Call back what waits for workers that are all gone: Dask keeps it for them."""
        for key, flight in list(self.flying.items()):
            if not flight.places & self.crew.fit.keys():
                del self.flying[key]
                flight.future.cancel(force=True)
                self.waiting.appendleft(flight.job)

    def _land(self, key: str) -> tuple[Job, SubmissionVerdict] | None:
        """The verdict that an order has brought; None if it has to be sent again."""
        from distributed import KilledWorker

        flight = self.flying.get(key)
        if flight is None:
            return None
        try:
            answer = json.loads(flight.future.result(timeout=_RESULT_SECONDS))
            if "verdict" in answer:
                del self.flying[key]
                return flight.job, self._checked(flight.job, answer["verdict"])
        except TimeoutError:
            # Its worker died with the verdict: Dask has it marked again.
            self.landed.put(key)
            self.crew.look()
            return None
        except KilledWorker:
            return self._again(key, flight, "every worker that marked it died; their logs may say why", alone=True)
        except Exception as error:
            self.crew.look()
            said = " ".join(str(error).split())[:200]
            told = f"the grader failed on it, please report this ({type(error).__name__}: {said})"
            return self._again(key, flight, told, grader_failed=True)
        if answer.get("unprepared"):
            self.crew.again(answer["worker"])
        else:
            self.crew.refuse(answer["worker"], str(answer.get("failed")))
        return self._again(key, flight, "", counts=False)

    def _again(
        self,
        key: str,
        flight: _Flight,
        problem: str,
        *,
        alone: bool = False,
        counts: bool = True,
        grader_failed: bool = False,
    ) -> tuple[Job, SubmissionVerdict] | None:
        self.flying.pop(key, None)
        if counts:
            tries = self.tries[id(flight.job)] = self.tries.get(id(flight.job), 0) + (2 if alone else 1)
            if tries >= _FRUITLESS:
                return flight.job, self._refused(flight.job.submission, problem, grader_failed=grader_failed)
        (self.suspects if alone else self.waiting).append(flight.job)
        return None

    def _refused(self, one: Submission, problem: str, *, grader_failed: bool = False) -> SubmissionVerdict:
        return SubmissionVerdict.refused(one.learner, one.lesson, self.seed, problem, grader_failed=grader_failed)

    def _checked(self, job: Job, data: Any) -> SubmissionVerdict:
        """The verdict, if it is one on this submission. Raises an error if it is not."""
        verdict = SubmissionVerdict.from_dict(data)
        tests = self.blueprints[job.submission.lesson].tests
        whose = (verdict.learner, verdict.lesson, verdict.seed)
        if whose != (job.submission.learner, job.submission.lesson, self.seed):
            raise ValueError("a verdict on another submission")
        for exercise in verdict.exercises:
            if exercise.status not in STATUSES:
                raise ValueError(f"no known status: {exercise.status!r:.40}")
            for test in exercise.tests:
                if not 0 <= test.score <= test.max_score == tests[test.grade_id].points:
                    raise ValueError(f"{test.grade_id} has {test.score!r:.40} marks")
        return verdict
