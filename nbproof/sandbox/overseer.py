"""The fork server counts what a submission starts, and decides about its signals, where no namespace bounds them.

A limit of the kernel's on processes counts all that a user runs, so that one submission's fork bomb would be its
neighbours' failure; root without capabilities it does not bind at all. So the fork server counts, and ends who has too many.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import struct
import time
from collections.abc import Mapping
from pathlib import Path

from nbproof.sandbox.syscalls import NAMES
from nbproof.sandbox.usage import stat_of

__all__ = ["Census", "Overseer", "tasks_here"]

_RECEIVE, _ANSWER = 0xC0502100, 0xC0182101
_QUESTION = struct.Struct("<QIIiIQ6Q")
_REPLY = struct.Struct("<QqiI")
_GO_ON = 1
_SOME = 8
"""New processes and threads of the machine before each one is looked at."""
_PAUSE = 0.05
"""Seconds between two such looks."""


class Overseer:
    """Decides about the signals of one submission, the session of process ``leader``, if Landlock does not.

    The kernel asks before the call is made, and shows arguments that cannot be changed meanwhile.
    """

    def __init__(self, listener: int, leader: int) -> None:
        self.listener = listener
        self._leader = leader

    def answer(self) -> None:
        """Decide about one call that waits; harmless if its process is gone."""
        question = bytearray(_QUESTION.size)
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.listener, _RECEIVE, question)
            number, _, _, call, _, _, *arguments = _QUESTION.unpack(question)
            decision = (0, _GO_ON) if self._may_be_sent(call, arguments) else (-errno.EPERM, 0)
            fcntl.ioctl(self.listener, _ANSWER, bytearray(_REPLY.pack(number, 0, *decision)))

    def close(self) -> None:
        """Stop answering: the kernel refuses calls that still wait. A second call does nothing."""
        if self.listener >= 0:
            os.close(self.listener)
            self.listener = -1

    def _may_be_sent(self, call: int, arguments: list[int]) -> bool:
        """Whether a submission may send this signal: to itself, to what it started, and to the group of all of these."""
        target = ctypes.c_int(arguments[0]).value
        if call == NAMES["kill"] and target <= 0:
            return target in (0, -self._leader)
        thread = ctypes.c_int(arguments[1]).value if call == NAMES["tgkill"] else target
        return _session_of(target) == _session_of(thread) == self._leader


class Census:
    """Counts the processes and threads of submissions, each a session; at almost no cost if nobody makes many."""

    def __init__(self) -> None:
        self._calm = tasks_here()
        self._looked = 0.0

    def crowded(self, most: Mapping[int, int]) -> list[int]:
        """The leaders of sessions with too many processes and threads. ``most``: leader -> how many it may have."""
        there = tasks_here()
        now = time.monotonic()
        self._calm = min(self._calm, there)
        if there - self._calm < _SOME or now - self._looked < _PAUSE:
            return []
        self._calm = there
        self._looked = now
        wanted = dict.fromkeys(most, 0)
        for name in os.listdir("/proc"):
            if name.isdigit():
                stat = stat_of(int(name))
                # A zombie is no more than an entry, and yet it is one.
                if int(stat[3]) in wanted:
                    wanted[int(stat[3])] += max(1, int(stat[17]))
        return [leader for leader, tasks in wanted.items() if tasks > most[leader]]


def tasks_here() -> int:
    """The number of processes and threads of the whole machine."""
    return int(Path("/proc/loadavg").read_text().split()[3].split("/")[1])


def _session_of(process: int) -> int:
    """The session that a process, or a thread, belongs to; 0 if there is none."""
    return int(stat_of(process)[3])
