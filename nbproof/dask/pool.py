"""Where submissions are marked on more machines: a pool whose executor is a Dask cluster's.

Dask decides which worker takes a submission, gives it to another if one dies, and to those that come later. A worker that
would not come to the same verdict (:func:`nbproof.dask.tasks.ready`) ends the run with its name and the reason.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import pickle
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nbproof.command import with_extra
from nbproof.course_file import the_course
from nbproof.dask import tasks
from nbproof.errors import CourseError, UsageError
from nbproof.run.digests import versions
from nbproof.sandbox.exceptions import ClusterLost
from nbproof.sandbox.isolation import Isolation
from nbproof.text import counted

if TYPE_CHECKING:
    # Not before there is a cluster: these import what marks, and nbgrader, and "nobody listens" is to be said at once.
    from distributed import Client

    from nbproof.limits import GradingLimits
    from nbproof.marking.blueprint import Blueprint
    from nbproof.marking.hand_in import HandIn
    from nbproof.marking.results import Verdict
    from nbproof.run.pool import Pool

__all__ = ["Cluster", "connect"]

_SECONDS = 5.0
"""Until somebody has to answer."""
_ANSWER_SECONDS = 20.0
"""A scheduler that is silent for so long is lost."""
_GUIDE = "docs/more_machines.md"


@contextlib.contextmanager
def connect(
    typed: str,
    isolation: Isolation | None = None,
    patience: float = 60.0,
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[Cluster]:
    """The cluster whose scheduler listens there. ``isolation``: the level that is demanded; None: the best that each worker has.

    ``typed``: the scheduler's address, or the file that ``dask scheduler --scheduler-file`` writes. ``patience``: seconds to wait
    for the first worker, and for another if all are gone. Raises UsageError if dask is not installed, ClusterLost if nobody
    answers.
    """
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("dask is not installed here", "--dask ADDRESS", with_extra("dask")) from None
    # What Dask would log of lost workers and schedulers is said here, in words.
    for name in ("distributed.client", "distributed.core", "distributed.comm", "distributed.batched"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        address = typed
        if typed.endswith(".json"):
            address = str(json.loads(Path(typed).read_text(encoding="utf-8"))["address"])
        # Dask's own client tries for half a minute, and forever where somebody listens and is silent.
        asyncio.run(asyncio.wait_for(_identity(address), _SECONDS))
        client = Client(address, timeout=2 * _SECONDS, set_as_default=False, name="nbproof")
    except Exception as error:  # whatever Dask makes of what it hears there
        raise ClusterLost(
            f"no Dask scheduler answers there ({type(error).__name__}: {error})",
            f"--dask {typed}",
            "start a scheduler (dask scheduler), which prints its address, and workers; 8786 is its usual port, 8787 is its "
            f"dashboard's: see {_GUIDE}",
        ) from None
    try:
        yield Cluster(client, address, isolation, patience, say)
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)


async def _identity(address: str) -> None:
    """Raises an error if it is no scheduler that answers there."""
    from distributed import Security
    from distributed.core import rpc

    async with rpc(address, connection_args=Security().get_connection_args("client")) as there:
        who = (await there.identity()).get("type")
    if who != "Scheduler":
        raise ValueError(f"it is a Dask {str(who).lower()}")


@dataclass
class Cluster:
    """A Dask cluster that answers, and how to use it."""

    client: Client
    address: str
    isolation: Isolation | None
    patience: float
    say: Callable[[str], None]
    _alone_since: float = field(default_factory=time.monotonic)
    _ready: set[str] = field(default_factory=set)
    """Workers that would come to the same verdicts."""

    @contextlib.contextmanager
    def pool(self, blueprints: Mapping[str, Blueprint], seed: int, limits: GradingLimits) -> Iterator[Pool]:
        """For :data:`nbproof.run.pool.PoolMaker`."""
        from nbproof.run.pool import Pool, in_a_process_of_its_own

        given = {name: getattr(limits, name) for name in limits.traits(config=True)}
        course = the_course()
        run = tasks.Run(
            f"{socket.gethostname()}:{course.folder}",
            seed,
            tuple(sorted(given.items())),
            self.isolation,
            course.package,
            str(course.folder),
            tuple(sorted(versions().items())),
        )
        lessons = {name: pickle.dumps(one) for name, one in blueprints.items()}
        alone = in_a_process_of_its_own(
            partial(_pool_at, self.address, self.isolation, self.patience), blueprints, seed, limits
        )
        if not self._room(run):
            self.say(f"waiting up to {self.patience:g} s (--wait) for\n  dask worker {self.address}")
        executor = self.client.get_executor(pure=False)

        def submit(one: HandIn) -> Future[Verdict]:
            # Pickled here, so that the scheduler passes it on without looking.
            future: Future[Verdict] = executor.submit(tasks.mark, run, lessons[one.key.lesson], pickle.dumps(one))
            return future

        try:
            yield Pool(submit, partial(self._room, run), alone)
        finally:
            executor.shutdown(wait=False)
            with contextlib.suppress(Exception):
                # If that cannot be said, engines end with the worker, or with the next run over this course.
                self.client.run(tasks.finish, run, on_error="ignore")

    def _room(self, run: tasks.Run) -> int:
        """Twice as many as there are threads: every one is busy, and the scheduler's memory is not filled. Whoever came since the
        last look says whether it would come to the same verdicts.
        """
        if self.client.status != "running":
            raise self._lost("the connection to the scheduler broke")
        try:
            threads = self.client.sync(self.client.scheduler.ncores, workers=None, callback_timeout=_ANSWER_SECONDS)
        except Exception as error:
            raise self._lost(f"the scheduler does not answer ({type(error).__name__})") from None
        there = sum(map(int, threads.values()))
        if threads.keys() - self._ready:
            self._try(run, sorted(threads.keys() - self._ready))
            self.say(f"marking on {counted(len(threads), 'Dask worker')}, {counted(there, 'submission')} at a time")
        self._ready &= threads.keys()
        if threads:
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > self.patience:
            raise self._lost(
                f"no Dask worker came within {self.patience:g} s",
                f"start one on each machine (dask worker {self.address}), or wait longer with --wait; "
                "then grade again: the run goes on where it stopped",
            )
        return 2 * there

    def _try(self, run: tasks.Run, workers: list[str]) -> None:
        try:
            self.client.run_on_scheduler(tasks.versions_here)
            told = self.client.run(tasks.ready, run, workers=workers, on_error="return")
        except Exception as error:  # whatever a scheduler without the packages raises
            raise self._unfit("the scheduler", error) from None
        for worker, line in told.items():
            if isinstance(line, OSError):
                continue  # it is gone again
            if isinstance(line, Exception):
                raise self._unfit(f"worker {worker}", line)
            self._ready.add(worker)
            if line:
                self.say(f"worker {worker}: {line}")

    def _unfit(self, who: str, error: Exception) -> ClusterLost:
        why = (
            error.fact
            if isinstance(error, CourseError)
            else f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        )
        return self._lost(
            f"{who} cannot be used: {why}",
            "make its environment like this one and restart it, or stop it; then grade again: the run goes on where it stopped "
            f"({_GUIDE}, 'A cluster by hand')",
        )

    def _lost(self, fact: str, next_command: str = "") -> ClusterLost:
        again = "check that scheduler and workers run; then grade again: the run goes on where it stopped"
        return ClusterLost(fact, f"--dask {self.address}", next_command or again)


@contextlib.contextmanager
def _pool_at(
    address: str,
    isolation: Isolation | None,
    patience: float,
    blueprints: Mapping[str, Blueprint],
    seed: int,
    limits: GradingLimits,
) -> Iterator[Pool]:
    with connect(address, isolation, patience) as cluster, cluster.pool(blueprints, seed, limits) as pool:
        yield pool
