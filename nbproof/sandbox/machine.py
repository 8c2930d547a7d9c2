"""Measures the processors, processes and memory that the machine or container leaves to a run, and how many workers fit.

Containers, batch systems and systemd bound all three by cgroups. `os.cpu_count()` and `free` know nothing of cgroups.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Fit", "Room", "own_cgroups", "room_here"]

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_PROCESSES = 40
"""Processes and threads of coordinator, fork server and judge, without their workers; one more for each processor."""
_OWN_MB = 1_000
"""Memory that these three need."""
_USUAL_MB = 400
"""Memory of a submission that does nothing out of the ordinary."""
_FEWEST = 8
"""Processes and threads of one submission: with fewer not even a plain answer would run."""


@dataclass(frozen=True)
class Fit:
    """The number of submissions at one time, and the number of processes and threads that each of them may have."""

    workers: int
    processes: int


@dataclass(frozen=True)
class Room:
    """The processors, processes and memory for a run; None if no limit is known."""

    cpus: int
    processes: int | None = None
    memory_mb: int | None = None

    def fit(self, processes: int, memory_mb: int, workers: int | None = None) -> Fit:
        """How many submissions with these limits fit. ``workers``: their number, if somebody has given it."""
        count = workers or self.cpus
        if self.memory_mb is not None and workers is None:
            # One that takes all it may, beside others of the usual size.
            count = min(count, 1 + max(0, self.memory_mb - _OWN_MB - memory_mb) // _USUAL_MB)
        if self.processes is None:
            return Fit(count, processes)
        left = self.processes - _OWN_PROCESSES - self.cpus
        if workers is None:
            # One process more for each: the fork server's fork, before it counts.
            count = max(1, min(count, left // (processes + 1)))
        return Fit(count, max(_FEWEST, min(processes, left // count - 1)))


def room_here() -> Room:
    """The room that this process's cgroups leave now."""
    folders = list(own_cgroups())
    cpus = [len(os.sched_getaffinity(0)), *(math.ceil(count) for count in map(_processors, folders) if count)]
    left = [count for count in map(_left, folders) if count is not None]
    memory = [size for size in map(_memory_mb, folders) if size is not None]
    return Room(max(1, min(cpus)), min(left, default=None), min(memory, default=None))


def own_cgroups() -> Iterator[Path]:
    """The folders that may describe the cgroups of this process, and those above: version 2, and each controller of version 1.

    A container's own cgroup is the top of what it sees: a folder that it does not see says nothing, the one above does.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for name in controllers.split(","):
                folder = _CGROUPS / name / path.lstrip("/")
                yield from (one for one in (folder, *folder.parents) if one.is_relative_to(_CGROUPS / name))


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().split()[0]
    except (OSError, IndexError):
        return None
    # Version 1 writes "no limit" as a number near 2**63.
    return int(text) if text.lstrip("-").isdigit() and 0 <= int(text) < 2**60 else None


def _processors(folder: Path) -> float | None:
    with contextlib.suppress(OSError, ValueError):
        quota, period = (folder / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    old = _number(folder / "cpu.cfs_quota_us")
    every = _number(folder / "cpu.cfs_period_us")
    return old / every if old and every else None


def _left(folder: Path) -> int | None:
    """The number of processes and threads that may still be made."""
    most = _number(folder / "pids.max")
    there = _number(folder / "pids.current") or 0
    return None if most is None else most - there


def _memory_mb(folder: Path) -> int | None:
    most = _number(folder / "memory.max")
    if most is None:
        most = _number(folder / "memory.limit_in_bytes")
    return None if most is None else most >> 20
