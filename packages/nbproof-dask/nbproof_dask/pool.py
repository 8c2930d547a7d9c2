"""A pool that marks on a Dask cluster: ``--pool dask:tcp://HOST:8786``, or ``dask:FILE`` as ``dask scheduler`` writes it.

This module decides who may mark, which worker takes a hand-in, and when a hand-in is given up. Dask brings it there, brings
the answer back, and knows who is there. A worker has as many hand-ins as it marks at a time: what it has not begun waits here,
for the first one that has room.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Security
from distributed.client import FutureCancelledError
from distributed.core import rpc

from nbproof.errors import UsageError
from nbproof.key import Key
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint
from nbproof.marking.results import Verdict
from nbproof.recover.notebook_bytes import HandIn
from nbproof.run.pool import Pool, PoolMaker
from nbproof.sandbox.exceptions import GradingError
from nbproof.sandbox.isolation import Isolation
from nbproof.sandbox.launch import CPU_KIND
from nbproof.text import counted, in_one_line
from nbproof_dask.fitness import Card, differences, versions
from nbproof_dask.parcels import Answer, Said, Work, hand_in_as_bytes, verdict_of

__all__ = ["Cluster", "ClusterLost", "PlaceLost", "pool"]

_GUIDE = "docs/more_machines.md"
_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 20.0
_SILENT_SECONDS = 60.0
"""A scheduler that is silent for so long is lost; on a machine that does much else it may be late now and then."""
_PATIENCE = 60.0
"""Seconds to wait for a worker if none is there; Dask's configuration may say otherwise, as ``nbproof.patience``."""
_EVERY = 1.0
"""Seconds between two looks at who is there."""
_HANDS = 8
"""Threads that fetch answers: one of them may wait for an answer that is lost."""
_LONGEST = 4
"""How many times as long as a submission may take: it may run twice, and one may be in front of it."""
_MOST_DEATHS = 2
"""A hand-in that was with so many workers when they died waits until it can be tried alone."""
_NO_PICKLE = ["dask", "msgpack", "error"]


class ClusterLost(GradingError):
    """The cluster cannot go on; what was marked stands."""


class PlaceLost(Exception):
    """What marked a hand-in ended, more than once."""


def pool(address: str, *, isolation: Isolation, workers: int | None, says: Callable[[str], object]) -> PoolMaker:
    """``address``: the scheduler's, or the file that it writes; ``workers``: how many at a time, at most; ``says``: takes a
    line for people on who marks. Raises UsageError."""
    if "://" not in address and not Path(address).is_file():
        raise UsageError(
            f"{address!r} is neither the address of a Dask scheduler nor a file that is there",
            "--pool",
            f"such as: --pool dask:tcp://HOST:8786, or dask:FILE as dask scheduler --scheduler-file writes it ({_GUIDE})",
        )
    return partial(_marking, address, isolation, workers, says)


@contextlib.contextmanager
def _marking(
    address: str,
    isolation: Isolation,
    workers: int | None,
    says: Callable[[str], object],
    blueprints: Mapping[str, Blueprint],
    seed: int,
    limits: GradingLimits,
) -> Iterator[Pool]:
    environment = {name: os.environ[name] for name in CPU_KIND if name in os.environ}
    work = Work.of(blueprints, seed, limits, isolation, environment)
    with _connected(address) as client:
        longest = _LONGEST * limits.widest().submission_seconds + _PATIENCE
        cluster = Cluster(client, work.as_bytes(), versions(blueprints), workers, says, longest)
        try:
            cluster.begin()
            yield cluster.pool
        finally:
            cluster.end()


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Client]:
    # What Dask would log of lost workers and schedulers is said here, in words.
    for name in ("client", "core", "comm", "batched", "utils_comm", "scheduler"):
        logging.getLogger(f"distributed.{name}").setLevel(logging.CRITICAL)
    try:
        if "://" not in address:
            address = str(json.loads(Path(address).read_text(encoding="utf-8"))["address"])
        # Dask's own client would wait for ever where somebody listens and is silent. In a thread: this one may have a loop.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, asyncio.wait_for(_greeting(address), _CONNECT_SECONDS)).result()
        # What a task returns is never unpickled.
        client = Client(
            address, timeout=_CONNECT_SECONDS, set_as_default=False, name="nbproof", deserializers=_NO_PICKLE
        )
    except Exception as error:  # whatever Dask makes of what it hears there
        raise ClusterLost(
            f"no Dask scheduler answers there ({type(error).__name__}: {in_one_line(error)})",
            f"--pool dask:{address}",
            "start a scheduler (dask scheduler), which prints its address, and workers; 8786 is its usual port, 8787 is its "
            f"dashboard's: {_GUIDE}",
        ) from None
    try:
        # A notebook may be large, and Dask need not say so.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
            yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)


async def _greeting(address: str) -> None:
    """Raises an error if it is no scheduler that answers there."""
    async with rpc(address, connection_args=Security().get_connection_args("client")) as there:
        who = str((await there.identity()).get("type"))
    if who != "Scheduler":
        raise ValueError(f"it is a Dask {who.lower()}")


def _passed_by_its_text() -> Callable[..., Any]:
    """What the scheduler passes on to a worker: a function that needs no package where nobody calls it."""

    def ask(name: str, *given: Any) -> Any:
        from nbproof_dask import worker

        return getattr(worker, name)(*given)

    return ask


_ASK = _passed_by_its_text()


@dataclass(eq=False)
class _Job:
    """A hand-in on its way."""

    key: Key
    data: bytes
    most_deaths: int
    future: Future[Verdict] = field(default_factory=Future)
    worker: str = ""
    """Who marks it; empty as long as it waits for one that has room."""
    there: Any = None
    """Dask's future of the answer."""
    sent: float = 0.0
    """When the worker got it."""


@dataclass
class Cluster:
    """A run's view of a Dask cluster: who is there, who may mark, what is on its way."""

    client: Any
    work: bytes
    versions: Mapping[str, str]
    """What a worker has to have."""
    most: int | None
    """The most submissions at a time."""
    says: Callable[[str], object]
    """Takes a line for people."""
    longest: float
    """Seconds after which a worker that has not answered is taken for dead."""
    run: str = field(default_factory=lambda: secrets.token_hex(8))
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _changed: threading.Event = field(default_factory=threading.Event)
    _stop: threading.Event = field(default_factory=threading.Event)
    _asked: dict[str, Any] = field(default_factory=dict)
    """Workers that have been asked to join, and Dask's futures of their answers."""
    _doubtful: dict[str, Card] = field(default_factory=dict)
    """Workers at which reference answers lose marks: if they do so everywhere, the lesson is wrong, not the worker."""
    _ready: dict[str, Card] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)
    """Worker -> why it must not mark."""
    _standard: Mapping[str, str] | None = None
    """What reference answers lose at the first worker that marks: it has to be the same at all."""
    _jobs: dict[str, _Job] = field(default_factory=dict)
    """Dask's key of the latest try -> the job."""
    _deaths: Counter[Key] = field(default_factory=Counter)
    _tries: int = 0
    _lost: ClusterLost | None = None
    _alone_since: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.pool = Pool(self.submit, 1, self._alone)
        self._hands = ThreadPoolExecutor(_HANDS)
        self._watch = threading.Thread(target=self._keep_looking, daemon=True)

    @property
    def address(self) -> str:
        """The scheduler's, as it was typed or read."""
        return str(self.client.scheduler.address)

    def begin(self) -> None:
        """Return as soon as some worker may mark. Raises ClusterLost if none comes."""
        self._watch.start()
        while not self._ready and self._lost is None:
            self._changed.wait(_EVERY)
            self._changed.clear()
        if self._lost is not None:
            raise self._lost

    def end(self) -> None:
        """Leave no work behind on the cluster."""
        self._stop.set()
        if self._watch.ident is not None:
            self._watch.join()
        with self._lock:
            futures = [*self._asked.values(), *(job.there for job in self._jobs.values() if job.there is not None)]
            members = [*self._asked, *self._doubtful, *self._ready, *self._refused]
            self._jobs.clear()
        self._hands.shutdown(wait=False, cancel_futures=True)
        if self.client.status != "running" or not members:
            return
        with contextlib.suppress(Exception):  # engines of a worker that does not hear of it end with the worker
            self.client.cancel(futures, force=True)
            self.client.run(_ASK, "leave", self.run, workers=members, on_error="ignore")

    def submit(self, one: HandIn) -> Future[Verdict]:
        """Have a hand-in marked somewhere."""
        job = _Job(one.key, hand_in_as_bytes(one), max(_MOST_DEATHS, self._deaths[one.key] + 1))
        with self._lock:
            if self._lost is not None:
                raise self._lost
            self._add(job)
            self._share_out()
        return job.future

    def _alone(self, one: HandIn) -> Verdict:
        """Have one marked while nothing else is. It is given up with the first worker that dies over it."""
        self._deaths[one.key] = max(self._deaths[one.key], _MOST_DEATHS - 1)
        return self.submit(one).result()

    def _add(self, job: _Job) -> None:
        """Have a job wait. The caller holds the lock."""
        self._tries += 1
        job.worker = ""
        self._jobs[f"nbproof-{self.run}-{self._tries}"] = job

    def _share_out(self) -> None:
        """Give what waits to the workers that have room, the one that has least first. The caller holds the lock."""
        if self.client.status != "running":
            return  # the watch sees that
        waiting = [key for key, job in self._jobs.items() if not job.worker]
        busy = Counter(job.worker for job in self._jobs.values())
        each = (zip(range(busy[name], card.slots), repeat(name)) for name, card in self._ready.items())
        for key, (_, address) in zip(waiting, sorted(chain.from_iterable(each)), strict=False):
            job = self._jobs[key]
            job.worker, job.sent = address, time.monotonic()
            job.there = self._on(address, key, "mark", self.run, job.data)
            job.there.add_done_callback(self._fetching(self._came, key))

    def _on(self, worker: str, key: str, *given: Any) -> Any:
        """Dask's future of a worker's answer."""
        return self.client.submit(_ASK, *given, key=key, workers=[worker], allow_other_workers=False, pure=False)

    def _fetching(self, does: Callable[[str, Any], None], about: str) -> Callable[[Any], None]:
        """What Dask calls with a future that has ended. It must not wait: Dask has one thread for all of these."""

        def fetch(there: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the run is over
                self._hands.submit(does, about, there)

        return fetch

    def _again(self, key: str) -> None:
        """Have a job that a worker has got wait once more. The caller holds the lock."""
        job = self._jobs.pop(key)
        job.there.cancel(force=True)
        self._add(job)

    def _came(self, key: str, there: Any) -> None:
        """Dask has an end of a job's try: fetch what it is. This runs in one of :attr:`_hands`."""
        if key not in self._jobs:
            return
        try:
            answer = Answer.of(there.result(timeout=_ANSWER_SECONDS))
            verdict = verdict_of(answer.data) if answer.said is Said.VERDICT else None
        except FutureCancelledError:
            return  # by this module, or because the scheduler is gone: the watch sees that
        except TimeoutError:
            # The worker died with the answer, before anybody had fetched it.
            answer, verdict = Answer(Said.LOST, b""), None
        except Exception as error:  # Dask itself gave it up, or a worker answers what is no answer
            answer, verdict = Answer.because(Said.ENDED, f"{type(error).__name__}: {in_one_line(error)}"), None
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                return
            if verdict is not None and Key(verdict.learner, verdict.lesson) == job.key:
                del self._jobs[key]
                job.future.set_result(verdict)
            elif answer.said is Said.UNFIT:
                self._dismiss(job.worker, answer.text)
            elif answer.said is Said.LOST:
                self._again(key)
            else:
                self._blame(key, answer.text)
            self._share_out()

    def _blame(self, key: str, why: str) -> None:
        """What marked a hand-in ended: give it up, or have it marked once more. The caller holds the lock."""
        job = self._jobs[key]
        self._deaths[job.key] += 1
        if self._deaths[job.key] < job.most_deaths:
            self._again(key)
            return
        del self._jobs[key]
        job.there.cancel(force=True)
        job.future.set_exception(PlaceLost(why))

    def _keep_looking(self) -> None:
        """The watch: until the run is over, see who is there."""
        heard = time.monotonic()
        while not self._stop.is_set() and self._lost is None:
            try:
                self._look()
                heard = time.monotonic()
            except ClusterLost as error:
                self._lose(error)
            except Exception as error:
                if not isinstance(error, TimeoutError) or time.monotonic() - heard > _SILENT_SECONDS:
                    self._lose(self._gone(f"{type(error).__name__}: {in_one_line(error)}"))
            self._stop.wait(_EVERY)

    def _lose(self, error: ClusterLost) -> None:
        with self._lock:
            self._lost = error
            for job in self._jobs.values():
                job.future.set_exception(error)
            self._jobs.clear()
        self._changed.set()

    def _gone(self, why: str) -> ClusterLost:
        return self._error(f"the Dask scheduler is gone, or does not answer ({why})")

    def _error(self, fact: str) -> ClusterLost:
        then = f"see that scheduler and workers run ({_GUIDE}); the same command goes on where this run stopped"
        return ClusterLost(f"{fact}; what was marked is kept", f"--pool dask:{self.address}", then)

    def _look(self) -> None:
        """Part with those who are gone, ask those who are new, and send what waits. Raises ClusterLost."""
        if self.client.status != "running":
            raise self._gone("the connection broke")
        there = self.client.sync(self.client.scheduler.ncores, workers=None, callback_timeout=_ANSWER_SECONDS)
        with self._lock:
            known = {*self._asked, *self._doubtful, *self._ready, *self._refused}
            for address in known - there.keys():
                self._part_with(address)
            fresh = there.keys() - known
            for address in fresh:
                self._ask_to_join(address, int(there[address]))
            if fresh:
                self.says(f"{counted(len(fresh), 'Dask worker')}: first the reference answers are tried there")
            self._settle_doubts()
            before, why = time.monotonic() - self.longest, f"no answer came within {self.longest:g} s"
            late = {key: job.worker for key, job in self._jobs.items() if job.worker and job.sent < before}
            for key in late:
                self._blame(key, why)
            for name in {*late.values()}:
                self._dismiss(name, why)
            self._share_out()
            self._refuse_to_wait(bool(there))

    def _refuse_to_wait(self, is_anybody_there: bool) -> None:
        """Raise ClusterLost if nobody marks, and nobody is going to."""
        if self._ready or self._asked:
            self._alone_since = time.monotonic()
        elif is_anybody_there:
            raise self._error(f"no worker can mark: {'; '.join(map(': '.join, self._refused.items()))}")
        elif time.monotonic() - self._alone_since > (patience := float(dask.config.get("nbproof.patience", _PATIENCE))):
            raise self._error(f"no Dask worker came within {patience:g} s (dask worker {self.address} starts one)")

    def _part_with(self, address: str) -> None:
        future = self._asked.pop(address, None)
        if future is not None:
            future.cancel(force=True)
        self._doubtful.pop(address, None)
        self._refused.pop(address, None)
        if self._ready.pop(address, None) is not None:
            self._count(f"worker {address} is gone; ")
        for key in self._jobs_of(address):
            self._blame(key, f"worker {address} died")

    def _jobs_of(self, address: str) -> list[str]:
        return [key for key, job in self._jobs.items() if job.worker == address]

    def _dismiss(self, address: str, why: str) -> None:
        """From now on a worker must not mark."""
        self._refused[address] = why
        if self._ready.pop(address, None) is not None:
            self.says(f"worker {address} is not asked any more: {why}")
            self._count()
        else:
            self.says(f"worker {address} is not asked: {why}")
        for key in self._jobs_of(address):
            self._again(key)

    def _ask_to_join(self, address: str, threads: int) -> None:
        self._tries += 1
        key = f"nbproof-{self.run}-{self._tries}"
        self._asked[address] = self._on(address, key, "join", self.run, self.work, threads)
        self._asked[address].add_done_callback(self._fetching(self._joined, address))

    def _joined(self, address: str, there: Any) -> None:
        """A worker has answered. This runs in one of :attr:`_hands`."""
        try:
            answer = Answer.of(there.result(timeout=_ANSWER_SECONDS))
            card = Card.of(answer.data) if answer.said is Said.FIT else None
        except FutureCancelledError:
            return
        except ModuleNotFoundError as error:
            told = f"{error.name} is not installed there: python -m pip install nbproof-dask"
            answer, card = Answer.because(Said.UNFIT, told), None
        except Exception as error:  # of Dask, or of what answers in its place
            answer, card = Answer.because(Said.UNFIT, f"{type(error).__name__}: {in_one_line(error)}"), None
        with self._lock:
            if self._asked.pop(address, None) is None:
                return
            other = differences(self.versions, card.versions) if card is not None else [answer.text]
            if card is None or other:
                self._dismiss(address, "; ".join(other))
            elif card.shortfalls and self._standard is None:
                self._doubtful[address] = card
            else:
                self._admit(address, card)
            self._share_out()
        self._changed.set()

    def _admit(self, address: str, card: Card) -> None:
        """A worker may mark, if reference answers earn there what they earn at the others. The caller holds the lock."""
        if self._standard is None:
            self._standard = card.shortfalls
        if card.shortfalls != self._standard:
            told = "; ".join(map(": ".join, card.shortfalls.items())) or "they earn more than at the others"
            self._dismiss(address, f"reference answers end otherwise there: {told}")
            return
        self._ready[address] = card
        self._count()

    def _settle_doubts(self) -> None:
        """Decide on workers where reference answers lose marks, once nobody is left who could show that they need not."""
        if self._asked and self._standard is None:
            return
        for address in list(self._doubtful):
            self._admit(address, self._doubtful.pop(address))

    def _count(self, before: str = "") -> None:
        """Tell how many mark, and let so many hand-ins be on their way that one waits here for each that is marked."""
        slots = sum(card.slots for card in self._ready.values())
        self.pool.room = max(1, min(2 * slots, self.most or 2 * slots))
        self.says(
            f"{before}marking on {counted(len(self._ready), 'Dask worker')}, {counted(slots, 'submission')} at a time"
        )
