"""The engine's end of one worker: it asks, takes only answers of a known form, watches what the worker uses, and ends it."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from nbproof.limits import GradingLimits
from nbproof.sandbox import wire
from nbproof.sandbox.exceptions import EngineFailed, EngineLost, LossCause, WorkerLost
from nbproof.sandbox.usage import MAX_FILES, family, memory_mb, processor_seconds, resident_mb, scratch_bytes

__all__ = ["Ended", "NoRoom", "Worker"]


class NoRoom(Exception):
    """The machine has no room for another process now."""


_TICK = 0.05
"""Seconds between two looks at a submission's processes."""


@dataclass
class Ended:
    """How a worker's process ended, once the fork server has told it."""

    event: threading.Event = field(default_factory=threading.Event)
    code: int | None = None
    refused: str = ""
    """Why it was never there: the machine had no room for another process."""
    crowded: bool = False
    """Whether it was ended because the submission started more processes and threads than it may."""
    lost: bool = False
    """Whether the fork server ended, and the worker with it, without any act of the submission."""


class Worker:
    """The engine's end of one worker. Every request may raise WorkerLost; then the worker is gone."""

    def __init__(self, channel: socket.socket, ended: Ended, limits: GradingLimits, scratch: str | None = None) -> None:
        self._channel = channel
        self._ended = ended
        self._limits = limits
        self._scratch = scratch
        """A scratch folder that no file system bounds."""
        self.pid = 0
        self._handle = -1
        self._ticked = 0.0
        self._looked = time.monotonic()
        self._pause = 0.0
        """Seconds until several processes are added up again: twice as long as it took last, so that the grader has time left."""
        self._warm_mb = 0.0
        """The memory that each of its processes shares with the interpreter that it was forked from."""
        self.deadline = time.monotonic() + 60.0
        self.spent_by: float | None = None
        """Seconds of processor time after which its process is ended; None if there is no such limit."""
        self.interrupt_at: float | None = None
        """The time when the running cell is interrupted, as by a notebook's stop button, before its deadline ends it."""
        self.interrupted = False
        """Whether the last request was interrupted."""
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
                self.pid = int.from_bytes(data[:4], sys.byteorder)
        if self.pid:
            with contextlib.suppress(OSError):
                self._handle = os.pidfd_open(self.pid)
            self._warm_mb = resident_mb(self.pid)
        try:
            header, _ = self._receive()
        except WorkerLost:
            raise self._not_there() from None
        if header.get("later"):
            raise NoRoom(str(header["failed"]).strip().splitlines()[-1])
        if "hello" not in header:
            raise EngineFailed(
                f"a worker cannot be sealed: {header.get('failed')}",
                "",
                "grade again, or see docs/engine.md, 'Isolation'",
            )

    def _not_there(self) -> Exception:
        """The error for a worker that never answered."""
        self._ended.event.wait(1.0)
        if self._ended.refused:
            return NoRoom(self._ended.refused)
        if self._ended.lost:
            return EngineLost("the process that forks workers ended", "", "grade again")
        return NoRoom("a process ended before its first word")

    def request(
        self, header: dict[str, Any], keys: dict[str, type | tuple[type, ...]], payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        """Ask, and return an answer of exactly this form, and its bytes. ``keys``: name -> type. Raises WorkerLost."""
        # A nonce: an answer sent ahead of its question is no answer.
        nonce = secrets.token_hex(8)
        self.interrupted = False
        try:
            self._channel.settimeout(max(0.1, self.deadline - time.monotonic()))
            wire.send(self._channel, {**header, "id": nonce}, payload)
        except (wire.Closed, wire.Late):
            raise self._lost() from None
        answer, brought = self._receive()
        if answer.get("id") != nonce or any(not isinstance(answer.get(key), kind) for key, kind in keys.items()):
            if "MemoryError" in str(answer.get("failed")):
                self._end_for("memory")
            self._end_for("protocol", "it answered what was not asked")
        return answer, brought

    def _receive(self) -> tuple[dict[str, Any], bytes]:
        try:
            answer = wire.receive(self._channel, self.deadline, self._watch)
            # What is over before anybody looked has used memory as well.
            self.peak_mb = max(self.peak_mb, resident_mb(self.pid) - self._warm_mb)
            return answer
        except wire.Closed:
            raise self._lost() from None
        except wire.Late:
            self._end_for("timeout")
        except wire.WireError as error:
            self._end_for("protocol", str(error))

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
            name = _name_of(-code)
            cause: LossCause = "memory" if name == "SIGKILL" else "died"
            return WorkerLost(cause, f"ended by {name}")
        return WorkerLost("died", f"it ended the Python process with status {code}")

    def _watch(self) -> None:
        """Look, while waiting, at the memory of all the submission's processes together, and at its disk.

        The memory of one process is bounded by the kernel, so twice a second is enough. Several can grow by a gigabyte in
        half a second, and nothing but this look bounds their sum: they are looked at as often as adding them up allows.
        """
        now = time.monotonic()
        most = self._limits.memory_mb
        if self.interrupt_at is not None and now > self.interrupt_at and self._handle >= 0:
            self.interrupt_at = None
            self.interrupted = True
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(self._handle, signal.SIGINT)
        # A probe takes some milliseconds and would be looked at three times.
        if not self.pid or now - self._ticked < _TICK:
            return
        self._ticked = now
        if self.spent_by is not None and processor_seconds(self.pid) > self.spent_by:
            self._end_for("timeout", "processor time")
        self._watch_disk(())
        waited = now - self._looked
        processes = family(self.pid)
        if waited < 0.5 and (len(processes) == 1 or waited < self._pause):
            return
        self._looked = now
        self._watch_disk(processes)
        used = memory_mb(processes, most)
        self._pause = 2 * (time.monotonic() - now)
        self.peak_mb = max(self.peak_mb, used)
        if used > most:
            self._end_for("memory", f"{used:.0f} MB")

    def _watch_disk(self, processes: Iterable[int]) -> None:
        most = self._limits.disk_mb << 20
        if self._scratch is not None and scratch_bytes(self._scratch, processes, most) > most:
            self._end_for("disk", f"more than {self._limits.disk_mb} MB")

    def _end_for(self, cause: LossCause, detail: str = "") -> NoReturn:
        self._kill()
        raise WorkerLost(cause, detail)

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            if self._handle >= 0:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            elif self.pid:
                os.kill(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill it and everything that it started. A second call does nothing."""
        self._kill()
        self._channel.close()
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _name_of(number: int) -> str:
    """The name of a signal, such as ``SIGKILL``; its number if it has none, as most real-time signals."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
