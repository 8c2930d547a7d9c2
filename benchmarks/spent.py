"""Where the engine's processor time goes, beside the floor's: by process, in one run on the same submissions.

    python -m benchmarks.spent [--submissions N]

Processor seconds, so that other work on the machine matters little. *Workers* are the sealed forks in which learners'
code runs, *judge* is the sealed process that compares, *fork server* imports and forks, *coordinator* reads, plans and
writes the gradebook. The engine runs twice: at first it grades the reference answers of each lesson as well.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from benchmarks.bench import keep, make_course


@dataclass
class Spent:
    """Processor seconds by role, and the seconds on the clock."""

    wall: float = 0.0
    roles: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.roles.values())


def watch(command: Sequence[str], folder: Path) -> Spent:
    """Run a command in the course's folder, and look every 20th of a second at who has used what.

    The kernel tells the sum, of all processes that were waited for, at the end. Coordinator, fork server and judge live
    long enough to be looked at, the judge longest of all that the fork server forks; workers are the rest.
    """
    start = time.perf_counter()
    process = subprocess.Popen(list(command), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    family = psutil.Process(process.pid)
    used: dict[int, float] = {}
    depths: dict[int, int] = {process.pid: 0}
    looks: collections.Counter[int] = collections.Counter()
    while True:
        ended, status, in_all = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        with contextlib.suppress(psutil.Error):
            for one in [family, *family.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    times = one.cpu_times()
                    used[one.pid] = times.user + times.system
                    depths.setdefault(one.pid, depths.get(one.ppid(), 0) + 1)
                    looks[one.pid] += 1
        time.sleep(0.05)
    assert process.stderr is not None
    said = process.stderr.read().decode()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{said}")
    spent = Spent(time.perf_counter() - start, {"coordinator": used.pop(process.pid)})
    # The fork server is two processes, of which the outer one only waits for the inner: that one's children are sealed.
    sealed = [pid for pid in used if depths[pid] == 3]
    if sealed:
        judge = max(sealed, key=lambda pid: looks[pid])
        spent.roles["fork server"] = sum(seconds for pid, seconds in used.items() if depths[pid] < 3)
        spent.roles["judge"] = used[judge]
    spent.roles["workers"] = in_all.ru_utime + in_all.ru_stime - spent.total
    return spent


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=40, help="default: 40")
    arguments = parser.parse_args()
    say = Console(stderr=True, highlight=False).print
    grade = [sys.executable, "-m", "course", "grade", "--no-feedback", "--force"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_course(folder, max(1, -(-arguments.submissions // 40)))
        number = keep(folder, arguments.submissions)
        ways = {}
        for label, command in (
            ("the engine, references too", grade),
            ("the engine", grade),
            ("the floor", [sys.executable, str(Path(__file__).with_name("floor.py")), str(folder)]),
        ):
            say(f"{label}: {number} submissions")
            ways[label] = watch(command, folder)
    table = Table(title=f"processor seconds for {number} submissions")
    for column in ("", *(next(iter(ways.values())).roles), "in all", "on the clock"):
        table.add_column(column, justify="left" if not column else "right")
    for label, spent in ways.items():
        cells = [f"{spent.roles[role]:.1f}" if role in spent.roles else "" for role in next(iter(ways.values())).roles]
        table.add_row(label, *cells, f"{spent.total:.1f}", f"{spent.wall:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
