"""The engine: forks a sealed worker for each submission, asks it for evidence, judges at home.

One zygote, a few threads, each driving one worker at a time; truths are shared by a whole class.
Nothing in here writes to a gradebook: results are handed to whoever called.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course.grading import wire
from course.grading.exceptions import EngineFailed, NoIsolation, WorkerLost
from course.grading.limits import GradingLimits
from course.grading.sandbox import probe_isolation

__all__ = ["Engine", "Worker", "isolation_or_refuse"]

_START_SECONDS = 120.0


def isolation_or_refuse(unsafe: bool) -> str:
    """The first line of a run: what isolation is active. Raises NoIsolation where there is none and ``unsafe`` is not set."""
    reason = probe_isolation()
    if not reason and not unsafe:
        return (
            "isolation: user, mount, pid, ipc and network namespaces, system-call filter and limits for each submission"
        )
    if unsafe:
        return "isolation: NONE (--unsafe): submissions run as you, with your files and network in reach"
    raise NoIsolation(
        f"this machine cannot isolate submissions: {reason}",
        "Linux with unprivileged user namespaces is needed",
        "grade on such a machine, or add --unsafe if you would run every submission yourself",
    )


@dataclass
class _Ended:
    """How a worker's process ended, once the zygote has said so."""

    event: threading.Event = field(default_factory=threading.Event)
    code: int | None = None


class Engine:
    """The zygote and what talks to it. Use it as a context manager."""

    def __init__(self, limits: GradingLimits | None = None, isolated: bool = True) -> None:
        self.limits = limits or GradingLimits()
        self.isolated = isolated
        self._lock = threading.Lock()
        self._ended: dict[int, _Ended] = {}
        self._next = 0
        self._failure = ""

    def __enter__(self) -> Engine:
        self._folder = Path(tempfile.mkdtemp(prefix="grading-"))
        (self._folder / "root").mkdir()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        mode = "isolated" if self.isolated else "unsafe"
        self._zygote = subprocess.Popen(
            [
                sys.executable, "-I", "-X", "faulthandler=0", "-m", "course.grading.zygote", str(theirs.fileno()),
                str(self._folder / "root"), mode,
            ],
            pass_fds=[theirs.fileno()], env=self._environment(), stdin=subprocess.DEVNULL, cwd="/",
        )  # fmt: skip
        theirs.close()
        self._control.settimeout(_START_SECONDS)
        try:
            said = json.loads(self._control.recv(65536) or b"{}")
        except (OSError, ValueError):
            said = {}
        if not said.get("ready"):
            reason = (said.get("failed") or f"it ended with status {self._zygote.poll()}").strip().splitlines()[-1]
            self.__exit__()
            raise EngineFailed(
                f"the grading engine cannot start: {reason}",
                f"{sys.executable} -m course.grading.zygote",
                "python -m pip install -r requirements.txt; then grade again",
            )
        self._control.settimeout(None)
        self._listener = threading.Thread(target=self._listen, name="zygote listener", daemon=True)
        self._listener.start()
        return self

    def _environment(self) -> dict[str, str]:
        """What the zygote sees: enough to import, one thread a library (threads cannot enter namespaces)."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "MPLCONFIGDIR") if name in os.environ}
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        return {**kept, **threads, "LANG": "C.UTF-8", "IPYTHONDIR": str(self._folder / "ipython")}

    def __exit__(self, *_: object) -> None:
        self._control.close() if self._zygote.poll() is not None else self._control.shutdown(socket.SHUT_RDWR)
        try:
            self._zygote.wait(5)
        except subprocess.TimeoutExpired:
            self._zygote.kill()
            self._zygote.wait()
        self._control.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _listen(self) -> None:
        while True:
            try:
                message = self._control.recv(65536)
            except OSError:
                message = b""
            if not message:
                self._failure = "the process that forks workers ended"
                for ended in list(self._ended.values()):
                    ended.event.set()
                return
            said = json.loads(message)
            ended = self._ended.pop(said["ended"], None)
            if ended is not None:
                ended.code = said["code"]
                ended.event.set()

    @contextlib.contextmanager
    def worker(self, files: dict[str, bytes]) -> Iterator[Worker]:
        """A sealed fork with these files in its scratch folder; killed, with all it started, when the block ends."""
        if self._failure:
            raise EngineFailed(self._failure, "", "grade again: the run goes on where it stopped")
        ours, theirs = socket.socketpair()
        limits, ended = self.limits, _Ended()
        with self._lock:
            self._next += 1
            number = self._next
            self._ended[number] = ended
        scratch = None if self.isolated else tempfile.mkdtemp(prefix="scratch-", dir=self._folder)
        request = {
            "id": number, "scratch": scratch,
            "limits": {
                "memory": limits.memory_mb << 20, "processes": limits.processes, "files": limits.open_files,
                "disk": limits.disk_mb << 20, "seconds": int(limits.submission_seconds) + 10,
            },
        }  # fmt: skip
        with self._lock:
            socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno()])
        theirs.close()
        worker = Worker(ours, ended, limits)
        try:
            worker.greet(files)
            yield worker
        finally:
            worker.end()
            if scratch:
                shutil.rmtree(scratch, ignore_errors=True)


class Worker:
    """The engine's end of one worker. Every request may raise WorkerLost; then the worker is gone."""

    def __init__(self, channel: socket.socket, ended: _Ended, limits: GradingLimits) -> None:
        self._channel, self._ended, self._limits = channel, ended, limits
        self._count = 0
        self._pid = 0
        self._handle = -1
        self._looked = 0.0
        self.deadline = time.monotonic() + 60.0
        self.knows: set[str] = set()
        """Test cells whose probes it has been given."""
        self.peak_mb = 0.0

    def greet(self, files: dict[str, bytes]) -> None:
        """Learn the worker's process id from the kernel, not from the worker; give it its files."""
        self._channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        settle = {"output_bytes": self._limits.output_bytes, "files": {name: data.hex() for name, data in files.items()}}
        try:
            wire.send(self._channel, settle)
            self._channel.settimeout(60.0)
            _, ancillary, _, _ = self._channel.recvmsg(1, socket.CMSG_SPACE(12), socket.MSG_PEEK)
        except (OSError, wire.Closed):
            raise EngineFailed("a worker did not start", "", "grade again") from None
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
                self._pid = int.from_bytes(data[:4], sys.byteorder)
        if self._pid:
            with contextlib.suppress(OSError):
                self._handle = os.pidfd_open(self._pid)
        header, _ = self._receive()
        if "hello" not in header:
            raise EngineFailed(f"a worker cannot be sealed: {header.get('failed')}", "", "grade again, or see README, 'Isolation'")

    def request(
        self, header: dict[str, Any], keys: dict[str, type | tuple[type, ...]], payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        """Ask, and take an answer of exactly this form. ``keys``: name -> type."""
        # A nonce: an answer sent ahead of its question is no answer.
        nonce = secrets.token_hex(8)
        self._count += 1
        try:
            self._channel.settimeout(max(0.1, self.deadline - time.monotonic()))
            wire.send(self._channel, {**header, "id": nonce}, payload)
        except (wire.Closed, wire.Late):
            raise self._lost() from None
        answer, brought = self._receive()
        if answer.get("id") != nonce or any(not isinstance(answer.get(key), kind) for key, kind in keys.items()):
            self._kill()
            raise WorkerLost("protocol", "it answered what was not asked")
        return answer, brought

    def _receive(self) -> tuple[dict[str, Any], bytes]:
        try:
            return wire.receive(self._channel, self.deadline, self._watch)
        except wire.Closed:
            raise self._lost() from None
        except wire.Late:
            self._kill()
            raise WorkerLost("timeout") from None
        except wire.WireError as error:
            self._kill()
            raise WorkerLost("protocol", str(error)) from None

    def _lost(self) -> WorkerLost:
        self._ended.event.wait(10)
        code = self._ended.code
        if code == -signal.SIGXCPU:
            return WorkerLost("timeout", "processor time")
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            return WorkerLost("memory" if name == "SIGKILL" else "died", f"ended by {name}")
        return WorkerLost("died", f"it ended the Python process with status {code}")

    def _watch(self) -> None:
        """Four times a second while waiting: the memory of all the submission's processes together."""
        now = time.monotonic()
        if now - self._looked < 0.25 or not self._pid:
            return
        self._looked = now
        used = _memory_mb(self._pid)
        self.peak_mb = max(self.peak_mb, used)
        if used > self._limits.memory_mb:
            self._kill()
            raise WorkerLost("memory", f"{used:.0f} MB")

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            if self._handle >= 0:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            elif self._pid:
                os.kill(self._pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill it and everything it started; idempotent."""
        self._kill()
        self._channel.close()
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _memory_mb(pid: int) -> float:
    """Proportional memory of a process and all its descendants, beyond what the warm interpreter shares with it."""
    import psutil

    total = 0.0
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return 0.0
    for process in family:
        with contextlib.suppress(OSError, ValueError):
            for line in Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
                if line.startswith(("Pss_Anon:", "Pss_Shmem:", "SwapPss:")):
                    total += int(line.split()[1]) / 1024
    return total
