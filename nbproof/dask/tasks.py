"""What runs in a process of a Dask cluster: one engine and one marker for each run that sends submissions to it.

The functions here are what :mod:`nbproof.dask.pool` submits as tasks. The scheduler imports
this module too, so it imports nothing heavy by itself.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nbproof.course_file import use_course
from nbproof.run.digests import versions
from nbproof.sandbox.isolation import Isolation

if TYPE_CHECKING:
    from nbproof.marking.blueprint import Blueprint
    from nbproof.marking.marker import Marker
    from nbproof.marking.order import Order
    from nbproof.marking.results import SubmissionVerdict
    from nbproof.sandbox.engine import Engine

__all__ = ["IDLE_SECONDS", "Setup", "finish", "mark", "packed", "prepare"]

IDLE_SECONDS = 600.0
"""A station that nobody asked for so long has lost its coordinator, and ends."""


@dataclass(frozen=True)
class Setup:
    """What a station needs to know of a run."""

    blueprints: dict[str, Blueprint]
    seed: int
    limits: dict[str, Any]
    isolation: Isolation | None
    """The level that is demanded; None: the best that there is."""


def packed(setup: Setup) -> bytes:
    """Some 50 KB a lesson. It holds the hidden tests."""
    return zlib.compress(pickle.dumps(setup))


@dataclass
class _Station:
    """One run's engine. Started anew, once at a time, if its zygote ended."""

    setup: Setup
    level: Isolation
    lock: threading.Lock = field(default_factory=threading.Lock)
    engine: Engine | None = None
    marker: Marker | None = None
    asked: float = field(default_factory=time.monotonic)
    at_work: int = 0

    def ready(self, lost: Marker | None = None) -> Marker:
        """The marker; a fresh one in place of ``lost``."""
        from nbproof.limits import GradingLimits
        from nbproof.marking.marker import Marker
        from nbproof.sandbox.engine import Engine

        with self.lock:
            if self.marker is None or self.marker is lost:
                self.end()
                self.engine = Engine(GradingLimits(**self.setup.limits), self.level).__enter__()
                self.marker = Marker(self.engine, self.setup.blueprints, self.setup.seed)
            return self.marker

    def mark(self, order: Order) -> SubmissionVerdict:
        """As the marker does. Raises EngineFailed if a second engine does no better than the first."""
        from nbproof.sandbox.exceptions import EngineFailed

        marker = self.ready()
        try:
            return marker.mark(order)
        except EngineFailed:
            return self.ready(lost=marker).mark(order)

    def end(self) -> None:
        """End the engine, its workers with it."""
        engine, self.engine, self.marker = self.engine, None, None
        if engine is not None:
            engine.__exit__()


_stations: dict[str, _Station] = {}
_lock = threading.Lock()


def prepare(run: str, setup: bytes, wanted: dict[str, str], course: tuple[str, str]) -> dict[str, Any]:
    """Start this process's engine for a run, and try it. ``unfit``: why it must not be asked to mark; empty if it may.

    ``course``: its package, and the folder of its ``course.toml``. Raises ImportError if the package is not installed here.
    """
    package, folder = course
    if package:
        importlib.import_module(package)
    elif os.path.isdir(folder):
        use_course(os.path.join(folder, "course.toml"))
    else:
        return {"unfit": f"there is no {folder}: share the course's folder with it, under the same path"}
    here = versions()
    differs = [f"{name} is {here.get(name)}, wanted {want}" for name, want in wanted.items() if here.get(name) != want]
    if differs:
        return {"unfit": "it runs other versions: " + "; ".join(differs)}
    # From the coordinator, over Dask's own protocol, which is pickle anyway.
    told: Setup = pickle.loads(zlib.decompress(setup))  # noqa: S301
    level, said = _isolation(told.isolation)
    if level is None:
        return {"unfit": said}
    station = _Station(told, level)
    try:
        marker = station.ready()
        with marker.engine.worker({}):
            pass
    except Exception as error:
        station.end()
        return {"unfit": f"its engine does not start: {' '.join(str(error).split())[:300]}"}
    with _lock:
        before, _stations[run] = _stations.get(run), station
        if not any(thread.name == _REAPER for thread in threading.enumerate()):
            threading.Thread(target=_reap, name=_REAPER, daemon=True).start()
    if before is not None:
        before.end()
    return {"unfit": "", "host": socket.gethostname(), "reduced": said if level is Isolation.REDUCED else ""}


def _isolation(wanted: Isolation | None) -> tuple[Isolation | None, str]:
    """The level of isolation here, and the line that says it; without a level, why not.

    In a process of its own: this one has threads, and trying takes a fork.
    """
    if wanted is Isolation.NONE:
        return wanted, ""
    code = (
        "import sys\nfrom nbproof.errors import CourseError\nfrom nbproof.sandbox.isolation import isolation_or_refuse\n"
        "try:\n    chosen = isolation_or_refuse(wanted=sys.argv[1] or None)\n    print(chosen.level.value, chosen.line)\n"
        "except CourseError as error:\n    print('refused', error.fact)"
    )
    words = [sys.executable, "-I", "-c", code, wanted.value if wanted else ""]
    tried = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if tried.returncode:
        reason = (tried.stderr.strip().splitlines() or ["unknown"])[-1]
        return None, f"it cannot isolate submissions: {reason}"
    level, _, said = tried.stdout.strip().partition(" ")
    return (None, said) if level == "refused" else (Isolation(level), said)


def mark(run: str, order: bytes) -> bytes:
    """JSON: ``verdict``, or ``unprepared``, or ``failed`` with what this process's engine said; and ``worker``, who says it."""
    with _lock:
        station = _stations.get(run)
        if station is not None:
            station.at_work += 1
    if station is None:
        return _told({"unprepared": True})
    try:
        # Pickled by the coordinator itself, so that the scheduler passes it on without looking.
        verdict = station.mark(pickle.loads(order))  # noqa: S301
    except Exception as error:
        return _told({"failed": " ".join(str(error).split())[:300]})
    finally:
        with _lock:
            station.at_work -= 1
            station.asked = time.monotonic()
    return _told({"verdict": verdict.as_dict()})


def _told(answer: dict[str, Any]) -> bytes:
    from distributed import get_worker

    return json.dumps({**answer, "worker": str(get_worker().address), "process": os.getpid()}).encode()


async def finish(run: str) -> None:
    """The run is over: end its engine here. In a thread, because Dask calls this in the loop that talks to the scheduler."""
    await asyncio.to_thread(_finish, run)


def _finish(run: str) -> None:
    with _lock:
        station = _stations.pop(run, None)
    if station is not None:
        station.end()


_REAPER = "station reaper"


def _reap() -> None:
    """End stations whose coordinator was killed: nobody else would."""
    while True:
        time.sleep(min(30.0, IDLE_SECONDS / 2))
        with _lock:
            idle = [
                run
                for run, station in _stations.items()
                if not station.at_work and time.monotonic() - station.asked > IDLE_SECONDS
            ]
        for run in idle:
            _finish(run)
