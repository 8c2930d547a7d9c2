"""Two Dask workers in network namespaces of their own against one local engine with the same cores.

    python -m benchmarks.cluster                      120 submissions, two rounds; needs root and iproute2
    python -m benchmarks.cluster --submissions 40 --rounds 1

Runs alternate: local, cluster. Every score of every cell must agree. Told are ratios of wall time in all, of wall
time a submission after warm-up (from the times of the journals), and of processor time of everybody who took part. The
last run has one of its workers killed half-way: the same scores again.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from rich.console import Console

from benchmarks.resume import make_class, scores

ROOT = Path(__file__).parent.parent
SEED = 20265
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Run:
    """What one run took: seconds in all, seconds a submission after warm-up, processor seconds of all processes."""

    wall: float
    each: float
    processor: float


def ip(*words: str) -> None:
    """Debian's iproute2."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextlib.contextmanager
def machines(number: int) -> Iterator[tuple[str, list[str]]]:
    """Network namespaces on one bridge, each seeing this machine at the address that comes first, and the others."""
    tag = f"{os.getpid() % 10_000:04d}"
    net, bridge = f"10.{random.randrange(64, 128)}.{random.randrange(1, 250)}", f"cb{tag}"
    names = [f"course{tag}n{one}" for one in range(number)]
    ip("link", "add", bridge, "type", "bridge")
    try:
        ip("addr", "add", f"{net}.1/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        for one, name in enumerate(names):
            ip("netns", "add", name)
            ip("link", "add", f"cv{tag}{one}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", f"cv{tag}{one}", "master", bridge, "up")
            ip("-n", name, "addr", "add", f"{net}.{one + 2}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield f"{net}.1", names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        subprocess.run(["ip", "link", "del", bridge], capture_output=True)


@contextlib.contextmanager
def cluster(scratch: Path) -> Iterator[tuple[str, list[psutil.Popen]]]:
    """A scheduler here, a worker of one thread in each namespace; all of their processes."""
    with machines(2) as (host, names), contextlib.ExitStack() as stack:
        with socket.create_server((host, 0)) as free:
            address = f"tcp://{host}:{free.getsockname()[1]}"
        dask, quiet = [sys.executable, "-m", "dask"], {"stdout": subprocess.DEVNULL, "env": ENVIRONMENT, "cwd": ROOT}
        port = address.rsplit(":", 1)[1]
        commands = [[*dask, "scheduler", "--host", host, "--port", port, "--no-dashboard"]]
        commands += [
            ["ip", "netns", "exec", name, *dask, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
             "--local-directory", str(scratch / name)]
            for name in names
        ]  # fmt: skip
        started = []
        for number, command in enumerate(commands):
            log = stack.enter_context((scratch / f"dask{number}.log").open("wb"))
            started.append(psutil.Popen(command, stderr=log, **quiet))
        try:
            yield address, started
        finally:
            for process in reversed(started):
                with contextlib.suppress(psutil.Error):
                    process.terminate()
            for process in started:
                with contextlib.suppress(psutil.TimeoutExpired):
                    process.wait(20)


def spent(processes: list[psutil.Popen]) -> float:
    """Processor seconds of these processes and of what they started and outlived."""
    return sum(sum(process.cpu_times()[:4]) for process in processes)


def grade(folder: Path, told: list[str], others: list[psutil.Popen], kill_at: int = 0) -> Run:
    """One run of the command; ``others`` work for it. Where ``kill_at`` verdicts are there, the last of them is killed."""
    before, start = spent(others), time.monotonic()
    words = ["--quiet", "--no-feedback", "--seed", str(SEED)]
    command = [sys.executable, "-m", "course", "grade", "--course", str(folder), *words, *told]
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    while kill_at and process.poll() is None:
        if len(list(folder.glob("autograded/*/*/.verdict.json"))) >= kill_at:
            others[-1].kill()
            others[-1].wait()
            break
        time.sleep(0.05)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    if process.returncode:
        raise SystemExit(f"the run failed: {' '.join(command)}")
    # Engines of the cluster end with the run, and are counted when they have ended.
    time.sleep(2.0)
    times = sorted(path.stat().st_mtime for path in folder.glob("autograded/*/*/.verdict.json"))
    warm = times[len(times) // 10 :]
    each = (warm[-1] - warm[0]) / (len(warm) - 1)
    processor = usage.ru_utime + usage.ru_stime + (0.0 if kill_at else spent(others) - before)
    return Run(wall, each, processor)


def main() -> int:
    """See the module's text; 0 where all runs agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--lesson", default="02_tensor_hooks")
    arguments = parser.parse_args()
    say, lesson = Console(highlight=False), arguments.lesson
    if os.geteuid() or not shutil.which("ip"):
        raise SystemExit("network namespaces need root and Debian's iproute2: apt-get install -y iproute2")
    local: list[Run] = []
    spread: list[Run] = []
    agree = True
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        say.print(f"handing in: {arguments.submissions} submissions of {lesson}")
        make_class(scratch / "class", lesson, arguments.submissions, SEED)
        with cluster(scratch) as (address, processes):
            wanted = None
            for number in range(arguments.rounds):
                runs: tuple[tuple[list[Run], list[str], list[psutil.Popen]], ...]
                runs = ((local, ["--workers", "2"], []), (spread, ["--dask", address, "--wait", "120"], processes))
                for kept, told, others in runs:
                    folder = scratch / f"{number}{told[0]}"
                    shutil.copytree(scratch / "class", folder)
                    kept.append(run := grade(folder, told, others))
                    found = scores(folder, lesson)
                    wanted = wanted or found
                    agree = agree and found == wanted
                    say.print(
                        f"{' '.join(told):42} {run.wall:7.1f} s in all, {run.each * 1000:6.0f} ms a submission when warm, "
                        f"{run.processor:7.1f} s of processor, {len(found)} scores {'agree' if found == wanted else 'DIFFER'}"
                    )
            shutil.copytree(scratch / "class", scratch / "killed")
            grade(scratch / "killed", ["--dask", address], processes, kill_at=arguments.submissions // 2)
            found = scores(scratch / "killed", lesson)
            agree = agree and found == wanted
            say.print(
                f"one of two workers killed half-way: {len(found)} scores {'agree' if found == wanted else 'DIFFER'}"
            )
    for what in ("wall", "each", "processor"):
        ratios = [getattr(two, what) / getattr(one, what) for one, two in zip(local, spread, strict=True)]
        say.print(
            f"cluster / local, {what:10}: {', '.join(f'{one:.3f}' for one in ratios)}; median {statistics.median(ratios):.3f}"
        )
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
