"""The engine's end of the judge's process: it asks, watches what the answer costs, ends the process and starts another.

The process is one more sealed fork of the fork server, made before it hears of any test, so that no worker inherits one.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from nbproof.limits import GradingLimits
from nbproof.sandbox.exceptions import EngineLost, WorkerLost
from nbproof.sandbox.worker_handle import Worker

__all__ = ["EVIDENCE_MB", "EVIDENCE_SECONDS", "JudgeProcess"]

EVIDENCE_MB = 300
"""What judging one piece of evidence may add to the judge's memory."""
EVIDENCE_SECONDS = 5.0
"""Processor time that judging one piece of evidence may take. Not wall time: a busy machine is nobody's fault."""

_ROOM_MB = 2048
"""What truths and evidence together may add to the warm interpreter's memory."""
_WALL_SECONDS = 120.0
"""For a question of any kind, however busy the machine is."""
_TICK = 0.05
"""Seconds between two looks at what it costs."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


class _JudgeWorker(Worker):
    """A sealed fork that judges: watched for what one question adds to its memory and processor time."""

    bounded = False
    """Whether what is asked now is about a learner's evidence."""
    _memory, _seconds, _ticked = 0, 0.0, 0.0

    def begin(self, bounded: bool) -> int:
        """Start a question; how much address space it may have taken when it ends."""
        self.bounded = bounded
        mapped, self._memory = self._memory_now()
        self._seconds, self._ticked = self._seconds_now(), time.monotonic()
        return mapped + (EVIDENCE_MB << 20)

    def _watch(self) -> None:
        now = time.monotonic()
        # Most answers take a millisecond.
        if not self.bounded or now - self._ticked < _TICK:
            return
        self._ticked = now
        try:
            grown = (self._memory_now()[1] - self._memory) / 2**20
            seconds = self._seconds_now() - self._seconds
        except OSError:
            return  # it has ended, which whoever reads from it hears of
        if grown > EVIDENCE_MB:
            self._kill()
            raise WorkerLost("memory", f"more than {EVIDENCE_MB} MB")
        if seconds > EVIDENCE_SECONDS:
            self._kill()
            raise WorkerLost("timeout", f"more than {EVIDENCE_SECONDS:g} seconds")

    def _memory_now(self) -> tuple[int, int]:
        """(bytes mapped, bytes in memory that no file stands for)."""
        with open(f"/proc/{self._pid}/statm", "rb", 0) as statm:
            mapped, resident, shared, *_ = map(int, statm.read().split())
        return mapped * _PAGE, (resident - shared) * _PAGE

    def _seconds_now(self) -> float:
        with open(f"/proc/{self._pid}/stat", "rb", 0) as stat:
            numbers = stat.read().rpartition(b")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / _TICKS


_W = TypeVar("_W", bound=Worker)


class Forks(Protocol):
    """What makes sealed forks: :class:`nbproof.sandbox.engine.Engine`."""

    def forked(
        self, role: str, kind: type[_W], files: dict[str, bytes], limits: GradingLimits | None = None, **other: int
    ) -> AbstractContextManager[_W]:
        """A sealed fork of this role; killed when the block ends."""
        ...


class JudgeProcess:
    """The judge of one engine. Ask under :attr:`lock`, because a process answers one question at a time."""

    def __init__(self, engine: Forks) -> None:
        self._engine = engine
        self._held: contextlib.ExitStack | None = None
        self._worker: _JudgeWorker | None = None
        self.lock = threading.RLock()
        self.generation = 0
        """Changes with each new process, which knows nothing of what the one before was told."""

    def start(self) -> None:
        """See that there is a process."""
        limits = {"memory": _ROOM_MB << 20, "disk": 1 << 20, "seconds": 10**6}
        if self._worker is None:
            held = contextlib.ExitStack()
            self._worker = held.enter_context(self._engine.forked("judge", _JudgeWorker, {}, None, **limits))
            self._held = held
            self.generation += 1

    def ask(self, header: dict[str, Any], payload: bytes = b"", bounded: bool = False) -> dict[str, Any]:
        """The answer. Raises WorkerLost if the process ended, or was ended, over it; the next question gets a new one.

        So it does after an error over evidence: whatever was cut off in the middle must not stay for the next learner.
        ``bounded``: it is about what a learner brought, and may cost no more than :data:`EVIDENCE_MB` and
        :data:`EVIDENCE_SECONDS`.
        """
        self.start()
        worker = self._worker
        assert worker is not None
        worker.deadline = time.monotonic() + _WALL_SECONDS
        try:
            try:
                room = worker.begin(bounded)
            except OSError:
                raise WorkerLost("died", "it ended by itself") from None
            answer, _ = worker.request({**header, "room": room}, {}, payload)
        except (WorkerLost, EngineLost):
            self.end()
            raise
        if bounded and answer.keys() & {"beyond", "failed"}:
            self.end()
        if "beyond" in answer:
            raise WorkerLost("memory", f"more than {EVIDENCE_MB} MB")
        return answer

    def end(self) -> None:
        """End the process; idempotent."""
        held, self._held, self._worker = self._held, None, None
        if held is not None:
            held.close()
