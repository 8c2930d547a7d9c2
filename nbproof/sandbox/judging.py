"""The engine's end of the judge's process: it asks, and starts another one if an answer cost too much.

The process is one more sealed fork of the fork server, made before it hears of any test, so that no worker inherits one. Nobody's
code runs in it: it holds itself to the memory that one piece of evidence may cost, and is watched for its processor time.
"""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Protocol

from nbproof.limits import GradingLimits
from nbproof.sandbox.exceptions import EngineLost, WorkerLost
from nbproof.sandbox.usage import mapped_bytes, processor_seconds
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


class _Forks(Protocol):
    """Makes sealed forks, as :class:`nbproof.sandbox.engine.Engine` does."""

    def worker(
        self, files: dict[str, bytes], limits: GradingLimits | None = None, role: str = "worker"
    ) -> AbstractContextManager[Worker]:
        """A sealed fork of this role; killed when the block ends."""
        ...


class JudgeProcess:
    """Asks the judge of one engine. Ask under :attr:`lock`, because a process answers one question at a time."""

    def __init__(self, engine: _Forks) -> None:
        self._engine = engine
        self._held = ExitStack()
        self._worker: Worker | None = None
        self.lock = threading.RLock()
        self.generation = 0
        """A number that grows with each new process: a new one knows nothing of the questions before."""

    def start(self) -> Worker:
        """The process. If there is none, start one."""
        if self._worker is None:
            limits = GradingLimits(memory_mb=_ROOM_MB, disk_mb=1, submission_seconds=1e6)
            self._worker = self._held.enter_context(self._engine.worker({}, limits, "judge"))
            self.generation += 1
        return self._worker

    def ask(self, header: dict[str, Any], payload: bytes = b"", bounded: bool = False) -> dict[str, Any]:
        """Ask, and return the answer. Raises WorkerLost if the process ended over it; the next question gets a new process.

        After an error over evidence the process is ended as well: nothing half done may stay in it for the next learner.
        ``bounded``: the question is about a learner's evidence, and may cost no more than :data:`EVIDENCE_MB` and
        :data:`EVIDENCE_SECONDS`.
        """
        worker = self.start()
        worker.deadline = time.monotonic() + _WALL_SECONDS
        worker.spent_by = None
        mapped = mapped_bytes(worker.pid)
        if bounded:
            worker.spent_by = processor_seconds(worker.pid) + EVIDENCE_SECONDS
            header = {**header, "room": mapped + (EVIDENCE_MB << 20)}
        try:
            if not mapped:
                raise WorkerLost("died", "it ended by itself")
            answer, _ = worker.request(header, {}, payload)
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
        self._worker = None
        self._held.close()
