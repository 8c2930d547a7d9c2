"""The engine: forks a sealed worker for each submission, asks it for evidence, judges at home.

One zygote, a few threads, each driving one worker at a time; truths are shared by a whole class.
Nothing in here writes to a gradebook: results are handed to whoever called.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from course.command import this_python
from course.grading import wire
from course.grading.exceptions import EngineFailed, EngineLost, WorkerLost
from course.grading.isolation import Isolation, isolation_or_refuse
from course.grading.launch import Launched, launch, remove_folder
from course.grading.machine import room_here
from course.grading.usage import MAX_FILES, scratch_bytes
from course.limits import GradingLimits

__all__ = ["Engine", "Worker"]

_START_SECONDS, _END_SECONDS = 120.0, 5.0
_ROOM_SECONDS, _AGAIN_SECONDS = 60.0, 0.3
_MOST_RESTARTS = 3
"""Of the zygote, without a worker in between."""


class _NoRoom(Exception):
    """The machine has no room for another process now."""


@dataclass
class _Ended:
    """How a worker's process ended, once the zygote has said so."""

    event: threading.Event = field(default_factory=threading.Event)
    code: int | None = None
    refused: str = ""
    """Why it was never there: the machine had no room for another process."""
    crowded: bool = False
    """Whether it was ended because the submission started more processes and threads than it may."""
    lost: bool = False
    """Whether the zygote ended, and the worker with it: nothing that the submission did."""


class Engine:
    """The zygote and what talks to it. Use it as a context manager."""

    def __init__(
        self, limits: GradingLimits | None = None, isolation: Isolation | None = None, launched: Launched | None = None,
        processes: int | None = None,
    ) -> None:  # fmt: skip
        self.limits = limits or GradingLimits()
        self._processes = processes or room_here().fit(self.limits.processes, self.limits.memory_mb, 1).processes
        """What the machine leaves to one submission; at most what the limits say."""
        self._restarts = 0
        self.isolation = isolation or isolation_or_refuse().level
        self._lock = threading.Lock()
        self._ended: dict[int, _Ended] = {}
        self._next = 0
        self._failure = ""
        self._launched = launched

    def __enter__(self) -> Engine:
        """Start the zygote, if nobody has. It imports while the caller goes on; the first worker waits for it."""
        self._launched = self._launched or launch(self.isolation)
        self._control = self._launched.control
        self._ready = False
        from course.grading.judging import JudgeProcess  # which is made of what stands here

        self.judge = JudgeProcess(self)
        return self

    def wait_until_ready(self) -> None:
        """Return when workers can be forked: starting takes seconds, which are nobody's submission's."""
        self._start_again()
        assert self._launched is not None
        with self._lock:
            if self._ready:
                return
            self._control.settimeout(_START_SECONDS)
            try:
                said = json.loads(self._control.recv(65536) or b"{}")
            except (OSError, ValueError):
                said = {}
            if not said.get("ready"):
                reason = (
                    (said.get("failed") or f"it ended with status {self._launched.process.poll()}")
                    .strip()
                    .splitlines()[-1]
                )
                raise EngineFailed(
                    f"the grading engine cannot start: {reason}",
                    f"{this_python()} -m course.grading.zygote",
                    f"{this_python()} -m pip install -r requirements.txt; then grade again",
                )
            self._control.settimeout(None)
            listen = threading.Thread(target=self._listen, args=(self._control,), name="zygote listener", daemon=True)
            listen.start()
            self._ready = True

    def _start_again(self) -> None:
        """Where the zygote ended, by the machine's memory or a person's hand: another one. Not for ever."""
        with self._lock:
            if not self._failure:
                return
            if self._restarts >= _MOST_RESTARTS:
                raise EngineFailed(self._failure, "", "grade again: the run goes on where it stopped")
            assert self._launched is not None
            self._restarts += 1
            self._launched.end()
            self._launched = launch(self.isolation)
            self._control, self._ready, self._failure = self._launched.control, False, ""

    def __exit__(self, *_: object) -> None:
        if self._launched is not None:
            self.judge.end()
            self._launched.end()

    def _listen(self, control: socket.socket) -> None:
        while True:
            try:
                message = control.recv(65536)
            except OSError:
                message = b""
            if not message:
                self._failure = "the process that forks workers ended"
                for number in list(self._ended):
                    one = self._ended.pop(number)
                    one.lost = True
                    one.event.set()
                return
            said = json.loads(message)
            if said["ended"] in self._ended:
                one = self._ended.pop(said["ended"])
                one.code, one.refused = said["code"], said.get("refused", "")
                one.crowded = bool(said.get("crowded"))
                one.event.set()

    @contextlib.contextmanager
    def worker(self, files: dict[str, bytes]) -> Iterator[Worker]:
        """A sealed fork with these files in its scratch folder; killed, with all it started, when the block ends.

        Waits where the machine has no room for another process just now. Raises EngineFailed where it never has, and
        where the zygote ends meanwhile; the next call starts another one.
        """
        with self.forked("worker", Worker, files) as worker:
            yield worker

    @contextlib.contextmanager
    def forked(self, role: str, kind: type[_W], files: dict[str, bytes], **other: int) -> Iterator[_W]:
        """A sealed fork of any role: ``worker``, in which learner code runs, or ``judge``. ``other``: limits of its own."""
        deadline = time.monotonic() + _ROOM_SECONDS
        while True:
            with contextlib.ExitStack() as stack:
                try:
                    worker = stack.enter_context(self._forked_once(role, kind, files, other))
                except _NoRoom as full:
                    if time.monotonic() > deadline:
                        raise EngineFailed(
                            f"there is no room for another process: {full}", "the limits of this machine or container",
                            "grade again with fewer at a time: --workers 1",
                        ) from None  # fmt: skip
                else:
                    yield worker
                    return
            time.sleep(_AGAIN_SECONDS)

    @contextlib.contextmanager
    def _forked_once(
        self, role: str, kind: type[_W], files: dict[str, bytes], other: Mapping[str, int]
    ) -> Iterator[_W]:
        self.wait_until_ready()
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise _NoRoom(error.strerror) from None
        limits, ended = self.limits, _Ended()
        with self._lock:
            self._next += 1
            number = self._next
            self._ended[number] = ended
        assert self._launched is not None
        scratch = None
        if self.isolation is not Isolation.FULL:
            scratch = tempfile.mkdtemp(prefix="scratch-", dir=self._launched.folder)
        request = {
            "id": number, "scratch": scratch, "role": role,
            "limits": {
                "memory": limits.memory_mb << 20, "processes": self._processes, "files": limits.open_files,
                "disk": limits.disk_mb << 20, "seconds": int(limits.submission_seconds) + 10, **other,
            },
        }  # fmt: skip
        with self._lock, contextlib.suppress(OSError):
            # Where nobody takes it, the zygote has ended: the listener says so.
            socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno()])
        theirs.close()
        worker = kind(ours, ended, limits, scratch if self.isolation is Isolation.REDUCED else None)
        try:
            worker.greet(files)
            self._restarts = 0
            yield worker
        finally:
            worker.end()
            if scratch:
                # Not before nothing of it is left that could write.
                ended.event.wait(_END_SECONDS)
                remove_folder(scratch)


_W = TypeVar("_W", bound="Worker")


class Worker:
    """The engine's end of one worker. Every request may raise WorkerLost; then the worker is gone."""

    def __init__(
        self, channel: socket.socket, ended: _Ended, limits: GradingLimits, scratch: str | None = None
    ) -> None:
        self._channel, self._ended, self._limits = channel, ended, limits
        self._scratch = scratch
        """A scratch folder that no file system bounds."""
        self._pid = 0
        self._handle = -1
        self._looked = time.monotonic()
        self.deadline = time.monotonic() + 60.0
        self.knows: set[str] = set()
        """Test cells whose probes it has been given."""
        self.peak_mb = 0.0

    def greet(self, files: dict[str, bytes]) -> None:
        """Learn the worker's process id from the kernel, not from the worker; give it its files."""
        self._channel.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        # What does not fit the scratch folder is missing there, and room is left for what the code itself writes.
        files = dict(itertools.islice(files.items(), MAX_FILES // 2))
        sizes = [[name, len(data)] for name, data in files.items()]
        settle = {"output_bytes": self._limits.output_bytes, "files": sizes}
        try:
            wire.send(self._channel, settle, b"".join(files.values()))
            self._channel.settimeout(60.0)
            _, ancillary, _, _ = self._channel.recvmsg(1, socket.CMSG_SPACE(12), socket.MSG_PEEK)
        except (OSError, wire.Closed):
            raise self._not_there() from None
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
                self._pid = int.from_bytes(data[:4], sys.byteorder)
        if self._pid:
            with contextlib.suppress(OSError):
                self._handle = os.pidfd_open(self._pid)
        try:
            header, _ = self._receive()
        except WorkerLost:
            raise self._not_there() from None
        if header.get("later"):
            raise _NoRoom(str(header["failed"]).strip().splitlines()[-1])
        if "hello" not in header:
            raise EngineFailed(
                f"a worker cannot be sealed: {header.get('failed')}", "", "grade again, or see README, 'Isolation'"
            )

    def _not_there(self) -> Exception:
        """Why it never said a word."""
        self._ended.event.wait(1.0)
        if self._ended.refused:
            return _NoRoom(self._ended.refused)
        if self._ended.lost:
            return EngineLost("the process that forks workers ended", "", "grade again")
        return EngineFailed("a worker did not start", "", "grade again")

    def request(
        self, header: dict[str, Any], keys: dict[str, type | tuple[type, ...]], payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        """Ask, and take an answer of exactly this form. ``keys``: name -> type."""
        # A nonce: an answer sent ahead of its question is no answer.
        nonce = secrets.token_hex(8)
        try:
            self._channel.settimeout(max(0.1, self.deadline - time.monotonic()))
            wire.send(self._channel, {**header, "id": nonce}, payload)
        except (wire.Closed, wire.Late):
            raise self._lost() from None
        answer, brought = self._receive()
        if answer.get("id") != nonce or any(not isinstance(answer.get(key), kind) for key, kind in keys.items()):
            self._kill()
            failed = answer.get("failed")
            if isinstance(failed, str) and "MemoryError" in failed:
                raise WorkerLost("memory")
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

    def _lost(self) -> WorkerLost | EngineLost:
        if not self._ended.event.wait(1.0):
            # It hung up and lives on: a process that ended would have been reported by now.
            self._kill()
            return WorkerLost("died", "it closed the line to the grader")
        if self._ended.lost:
            return EngineLost("the process that forks workers ended", "", "grade again")
        if self._ended.crowded:
            return WorkerLost("processes", "it started too many processes and threads")
        code = self._ended.code
        if code == -signal.SIGXCPU:
            return WorkerLost("timeout", "processor time")
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            return WorkerLost("memory" if name == "SIGKILL" else "died", f"ended by {name}")
        return WorkerLost("died", f"it ended the Python process with status {code}")

    def _watch(self) -> None:
        """Twice a second while waiting: the memory of all the submission's processes together; more often, its disk."""
        if not self._pid:
            return
        self._watch_disk(())
        now = time.monotonic()
        if now - self._looked < 0.5:
            return
        self._looked = now
        if self._scratch is not None:
            self._watch_disk(_family(self._pid))
        used = _memory_mb(self._pid)
        self.peak_mb = max(self.peak_mb, used)
        if used > self._limits.memory_mb:
            self._kill()
            raise WorkerLost("memory", f"{used:.0f} MB")

    def _watch_disk(self, processes: Iterable[int]) -> None:
        most = self._limits.disk_mb << 20
        if self._scratch is not None and scratch_bytes(self._scratch, processes, most) > most:
            self._kill()
            raise WorkerLost("disk", f"more than {self._limits.disk_mb} MB")

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
    total = 0.0
    channels: set[str] = set()
    for process in _family(pid):
        with contextlib.suppress(OSError, ValueError):
            total += _own_memory_mb(process)
            channels |= _channels(process)
    return total + len(channels) * _CHANNEL_MB


def _family(pid: int) -> list[int]:
    """A process and all that descend from it, as far as they are alive."""
    import psutil

    try:
        return [pid, *(one.pid for one in psutil.Process(pid).children(recursive=True))]
    except psutil.Error:
        return []


_FEW_FILES = 40
_CHANNEL_MB = 0.3
"""Kernel memory behind a full socket of the usual size; it shows in no process. Full pipes hold less."""


def _channels(pid: int) -> set[str]:
    """The sockets and pipes that a process holds, where it holds more than a few files."""
    folder = f"/proc/{pid}/fd"
    names = os.listdir(folder)
    found = set()
    for name in names if len(names) > _FEW_FILES else ():
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"{folder}/{name}"))
    return {target for target in found if target.startswith(("socket:", "pipe:"))}


def _own_memory_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except PermissionError:
        # A process that hides itself is counted by what everybody may read, which is more than its share.
        _, resident, shared, *_ = (int(word) for word in Path(f"/proc/{pid}/statm").read_text().split())
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE") / 2**20
    counted = (line.split()[1] for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:", "SwapPss:")))
    return sum(int(number) for number in counted) / 1024
