"""What runs on a worker of a Dask cluster: one engine for each course, and one marker for each lesson of a run.

The scheduler imports this module too, so it imports nothing heavy by itself.
"""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nbproof.course_file import use_course
from nbproof.run.digests import versions
from nbproof.sandbox.exceptions import ClusterLost
from nbproof.sandbox.isolation import Isolation

if TYPE_CHECKING:
    from nbproof.marking.marker import Marker
    from nbproof.marking.results import Verdict
    from nbproof.sandbox.engine import Engine

__all__ = ["Run", "finish", "isolation_here", "mark", "ready", "versions_here"]


@dataclass(frozen=True)
class Run:
    """What a worker needs to know of a run, besides the lessons."""

    name: str
    """Of the course's folder and the machine that it lies on: of one course there is one run at a time."""
    seed: int
    limits: tuple[tuple[str, Any], ...]
    isolation: Isolation | None
    """The level that is demanded; None: the best that there is."""
    package: str
    folder: str
    """The course's package, and where its ``course.toml`` lies."""
    versions: tuple[tuple[str, str], ...]


@dataclass
class _Station:
    """One run's engine."""

    run: Run
    engine: Engine
    line: str
    """What is to be said of its isolation; empty if that is full."""
    markers: dict[bytes, Marker] = field(default_factory=dict)


_stations: dict[str, _Station] = {}
_lock = threading.Lock()


def versions_here() -> dict[str, str]:
    """Asked of the scheduler, which has to have this module, but not the course."""
    return {"Python": sys.version}


def ready(run: Run) -> str:
    """Start this process's engine for a run, and try it. What is to be said of its isolation. Raises ClusterLost, saying why, if
    this process must not be asked to mark.
    """
    return _station(run).line


def _station(run: Run) -> _Station:
    with _lock:
        kept = _stations.get(run.name)
        if kept is None or kept.run != run:
            if kept is not None:
                kept.engine.__exit__()
            _enter_course(run)
            kept = _stations[run.name] = _started(run)
        return kept


def _enter_course(run: Run) -> None:
    if run.package:
        importlib.import_module(run.package)
    elif os.path.isdir(run.folder):
        use_course(os.path.join(run.folder, "course.toml"))
    else:
        raise ClusterLost(f"there is no {run.folder}: share the course's folder with it, under the same path")
    here = versions()
    differs = [f"{name} is {here.get(name)}, wanted {want}" for name, want in run.versions if here.get(name) != want]
    if differs:
        raise ClusterLost("it runs other versions: " + "; ".join(differs))


def _started(run: Run) -> _Station:
    from nbproof.limits import GradingLimits
    from nbproof.sandbox.engine import Engine

    level, line = isolation_here(run.isolation)
    engine = Engine(GradingLimits(**dict(run.limits)), level).__enter__()
    try:
        with engine.worker({}):
            return _Station(run, engine, line if level is Isolation.REDUCED else "")
    except Exception as error:
        engine.__exit__()
        raise ClusterLost(f"its engine does not start: {' '.join(str(error).split())[:300]}") from None


def isolation_here(wanted: Isolation | None) -> tuple[Isolation, str]:
    """The level of isolation here, and the line that says it. In a process of its own: this one has threads, and trying forks."""
    if wanted is Isolation.NONE:
        return wanted, ""
    code = (
        "import sys\nfrom nbproof.errors import CourseError\nfrom nbproof.sandbox.isolation import isolation_or_refuse\n"
        "try:\n    chosen = isolation_or_refuse(wanted=sys.argv[1] or None)\n    print(chosen.level.value, chosen.line)\n"
        "except CourseError as error:\n    sys.exit(error.fact)"
    )
    words = [sys.executable, "-I", "-c", code, wanted.value if wanted else ""]
    tried = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if tried.returncode:
        raise ClusterLost(f"it cannot isolate submissions: {tried.stderr.strip()[-300:]}")
    level, _, line = tried.stdout.strip().partition(" ")
    return Isolation(level), line


def mark(run: Run, blueprint: bytes, hand_in: bytes) -> Verdict:
    """The verdict. Raises ClusterLost if this worker, which came later, must not mark."""
    from nbproof.marking.marker import Marker

    station = _station(run)
    with _lock:
        marker = station.markers.get(blueprint)
        if marker is None:
            # From the coordinator, over Dask's own protocol, which is pickle anyway.
            lesson = pickle.loads(blueprint)  # noqa: S301
            marker = station.markers[blueprint] = Marker(station.engine, {lesson.lesson: lesson}, run.seed)
    return marker.mark(pickle.loads(hand_in))  # noqa: S301


def finish(run: Run) -> None:
    """The run is over: end its engine here."""
    with _lock:
        kept = _stations.get(run.name)
        if kept is not None and kept.run == run:
            _stations.pop(run.name).engine.__exit__()
