"""Other machines, as far as one machine can play them: a Dask scheduler and workers, each a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Machines", "machines", "until"]

_SCHEDULER = """
import sys
# It passes bytes on, and needs nothing of ours.
sys.modules["nbproof"] = sys.modules["nbproof_dask"] = None
from distributed.cli.dask_scheduler import main
main()
"""
_SECONDS = 180.0


def until(holds: Callable[[], object], seconds: float = _SECONDS) -> None:
    """Wait until something holds. Fails if it does not come to that."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{holds} does not hold after {seconds:g} s"
        time.sleep(0.1)


@dataclass
class Machines:
    """A cluster. Everything lies in its folder, the logs as well."""

    folder: Path
    options: Sequence[str] = ()
    """For scheduler and workers, such as where the certificates of TLS lie."""
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """What the scheduler writes, and workers and runs read."""
        return self.folder / "scheduler.json"

    @property
    def pool(self) -> str:
        """For ``--pool``."""
        return f"dask:{self.file}"

    @property
    def address(self) -> str:
        """The scheduler's."""
        return str(json.loads(self.file.read_text())["address"])

    def start_scheduler(self) -> None:
        """Start the scheduler, and wait until it has written its file."""
        self.file.unlink(missing_ok=True)
        self._start(
            "scheduler", [sys.executable, "-c", _SCHEDULER, "--host", "127.0.0.1", "--no-dashboard", "--port", "0"]
        )
        until(self.file.exists)

    def start_worker(
        self,
        name: str,
        *,
        before: Sequence[str] = (),
        python: str = sys.executable,
        preload: str = "",
        comes_again: bool = False,
        **env: str,
    ) -> None:
        """Start a worker that marks one submission at a time. ``before``: the command that runs its command.

        ``preload``: a program that the worker runs first; ``comes_again``: whether Dask starts another one if it dies; ``env``:
        what its environment has besides.
        """
        more = []
        if preload:
            path = self.folder / f"{name}.py"
            path.write_text(preload, encoding="utf-8")
            more = ["--preload", str(path)]
        nanny = "--nanny" if comes_again else "--no-nanny"
        own = ["--name", name, "--nthreads", "1", nanny, "--no-dashboard", "--host", "127.0.0.1", *more]
        place = ["--local-directory", str(self.folder / name)]
        self._start(name, [*before, python, "-m", "distributed.cli.dask_worker", *own, *place], env)

    def _start(self, name: str, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        given = {
            **self.env,
            "OMP_NUM_THREADS": "1",
            "PYTHONUNBUFFERED": "1",
            "CLUSTER_OF_A_TEST": str(self.folder),
            **(env or {}),
        }
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [*command, "--scheduler-file", str(self.file), *self.options],
                stdout=log,
                stderr=log,
                env=given,
                start_new_session=True,
            )

    def log(self, name: str) -> str:
        """All that a process has printed."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def kill(self, name: str) -> None:
        """``kill -9``, and nothing else."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def stations(self) -> list[int]:
        """The processes that mark for the workers."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                is_station = b"nbproof_dask.station" in (path / "cmdline").read_bytes()
                if is_station and os.fsencode(self.folder) in (path / "environ").read_bytes():
                    found.append(int(path.name))
        return found

    def end(self) -> None:
        """End everything."""
        for process in self.processes.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def machines(
    folder: Path, *workers: str, options: Sequence[str] = (), env: Mapping[str, str] = os.environ
) -> Iterator[Machines]:
    """A cluster with these workers, by their names; it is ended with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Machines(folder, options, env)
    try:
        made.start_scheduler()
        for name in workers:
            made.start_worker(name)
        yield made
    finally:
        made.end()
