"""Where the engine's processor time goes, beside the floor's: by process, in one run on the same submissions.

    python -m benchmarks.spent [--submissions N]

Processor seconds, so that other work on the machine matters little. *Workers* are the sealed forks in which learners'
code runs, *judge* is the sealed process that compares, *fork server* imports and forks, *coordinator* reads, plans and
writes the gradebook. The engine runs twice: at first it grades the reference answers of each lesson as well.
"""

from __future__ import annotations

import argparse
import contextlib
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
    """Run a command in the course's folder, and look every 20th of a second at who has used what."""
    start = time.perf_counter()
    process = psutil.Popen(list(command), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    own: dict[tuple[int, float], float] = {}
    reaped: dict[tuple[int, float], float] = {}
    servers: set[tuple[int, float]] = set()
    seen: dict[tuple[int, float], float] = {}
    while process.poll() is None:
        with contextlib.suppress(psutil.Error):
            for one in [process, *process.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    key, now = (one.pid, one.create_time()), one.cpu_times()
                    seen[key] = time.perf_counter() - start
                    own[key], reaped[key] = now.user + now.system, now.children_user + now.children_system
                    if one.pid != process.pid and (now.children_user or one.children()):
                        servers.add(key)
        time.sleep(0.05)
    spent = Spent(time.perf_counter() - start)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{process.stderr.read().decode()}")
    first = next(key for key in own if key[0] == process.pid)
    rest = {key for key in own if key != first and key not in servers}
    # The judge lives as long as its engine; whoever has been reaped stands in the parent's sum.
    ended = max(seen[key] for key in own)
    judges = {key for key in rest if seen[key] > ended - 2 and own[key] > 0 and key[1] < max(one[1] for one in rest)}
    spent.roles["coordinator"] = own[first]
    if servers:
        spent.roles["fork server"] = sum(own[key] for key in servers)
        spent.roles["judge"] = sum(own[key] for key in judges)
        spent.roles["workers"] = sum(reaped[key] for key in servers)
    else:
        spent.roles["workers"] = reaped[first]
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
