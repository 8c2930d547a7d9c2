"""Decides about calls that a sealed process makes where no namespace bounds it: new processes, and signals.

A limit of the kernel's on processes counts all that a user runs, so that one submission's fork bomb would be its
neighbours' failure. Here each is counted by itself. The kernel asks before the call is made, and shows arguments that
cannot be changed meanwhile.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import struct
import time
from pathlib import Path

from course.grading.syscalls import NAMES, Asked

__all__ = ["Overseer", "session_of"]

_RECEIVE, _ANSWER = 0xC0502100, 0xC0182101
_QUESTION = struct.Struct("<QIIiIQ6Q")
_REPLY = struct.Struct("<QqiI")
_GO_ON = 1
_NEW = {NAMES[name] for name in Asked.NEW if name in NAMES}
_SIGNAL = {NAMES[name] for name in Asked.SIGNAL}
_REFUSED_SECONDS = 0.01
"""So long a refusal holds without another look: a fork bomb must not keep the zygote looking."""


class Overseer:
    """Of one submission: the session of process ``leader``, which may have ``processes`` processes and threads."""

    def __init__(self, listener: int, leader: int, processes: int) -> None:
        self.listener, self._leader, self._processes = listener, leader, processes
        self._made, self._refused = 1, 0.0

    def answer(self) -> None:
        """Decide about one call that waits; harmless where its process is gone."""
        question = bytearray(_QUESTION.size)
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.listener, _RECEIVE, question)
            number, _, _, call, _, _, *arguments = _QUESTION.unpack(question)
            good = self._may_be_made() if call in _NEW else self._may_be_sent(call, arguments)
            refusal = -errno.EAGAIN if call in _NEW else -errno.EPERM
            reply = _REPLY.pack(number, 0, 0 if good else refusal, _GO_ON if good else 0)
            fcntl.ioctl(self.listener, _ANSWER, bytearray(reply))

    def close(self) -> None:
        """Idempotent. What still asks is refused by the kernel."""
        if self.listener >= 0:
            os.close(self.listener)
            self.listener = -1

    def _may_be_made(self) -> bool:
        if self._made >= self._processes:
            now = time.monotonic()
            if now - self._refused < _REFUSED_SECONDS:
                return False
            self._made = sum(tasks for session, tasks in _sessions() if session == self._leader)
            if self._made >= self._processes:
                self._refused = time.monotonic()
                return False
        self._made += 1
        return True

    def _may_be_sent(self, call: int, arguments: list[int]) -> bool:
        """To itself, to what it started, and to the group of all of these."""
        target = ctypes.c_int(arguments[0]).value
        if call == NAMES["kill"] and target <= 0:
            return target in (0, -self._leader)
        thread = ctypes.c_int(arguments[1]).value if call == NAMES["tgkill"] else target
        return session_of(target) == session_of(thread) == self._leader


def session_of(process: int) -> int:
    """The session that a process, or a thread, belongs to; 0 where there is none."""
    return _read(f"/proc/{process}/stat")[0]


def _sessions() -> list[tuple[int, int]]:
    """Of every process: its session, and how many threads it has."""
    return [_read(f"/proc/{name}/stat") for name in os.listdir("/proc") if name.isdigit()]


def _read(path: str) -> tuple[int, int]:
    try:
        text = Path(path).read_bytes()
    except OSError:
        return 0, 0
    # The program's name, in brackets, may hold anything.
    fields = text[text.rindex(b")") + 1 :].split()
    # A zombie is no more than an entry, and yet it is one.
    return int(fields[3]), max(1, int(fields[17]))
