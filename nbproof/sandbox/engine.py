"""The engine: forks a sealed worker for each submission, asks it for evidence, judges at home.

One fork server, a few threads, each driving one worker at a time; truths are shared by a whole class.
Nothing in here writes to a gradebook: the caller gets the results.
"""

from __future__ import annotations

import contextlib
import json
import socket
import tempfile
import threading
import time
from collections.abc import Iterator

from nbproof.command import this_python, with_extra
from nbproof.course_file import Course
from nbproof.limits import GradingLimits
from nbproof.sandbox.exceptions import EngineFailed
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse
from nbproof.sandbox.judging import JudgeProcess
from nbproof.sandbox.launch import Launched, launch, remove_folder
from nbproof.sandbox.machine import room_here
from nbproof.sandbox.worker_handle import Ended, NoRoom, Worker
from nbproof.values.leaf import refuse_missing_leaves

__all__ = ["Engine"]

_START_SECONDS = 120.0
_END_SECONDS = 5.0
_ROOM_SECONDS = 60.0
_AGAIN_SECONDS = 0.3
_MARGIN_SECONDS = 40
"""Processor time beyond what the submission's cells may take: the same process has read the notebook."""
_MOST_RESTARTS = 3
"""How often the fork server is started again without a worker in between."""


class Engine:
    """Starts the fork server, and asks it for workers. Use it as a context manager."""

    def __init__(
        self,
        course: Course,
        limits: GradingLimits | None = None,
        isolation: Isolation | None = None,
        launched: Launched | None = None,
        processes: int | None = None,
    ) -> None:
        self.course = course
        self.limits = limits or GradingLimits()
        most = self.limits.widest()
        self._processes = processes or room_here().fit(most.processes, most.memory_mb, 1).processes
        """The processes that the machine leaves to one submission, at most those that the limits of some lesson allow."""
        self._restarts = 0
        self.isolation = isolation or isolation_or_refuse().level
        self._lock = threading.Lock()
        self._ended: dict[int, Ended] = {}
        self._next = 0
        self._failure = ""
        self._given = launched
        """A fork server that is on its way already."""
        self._launched: Launched

    def __enter__(self) -> Engine:
        """Start the fork server, if nobody has. It imports while the caller goes on; the first worker waits for it."""
        self._launched = self._given or launch(self.course, self.isolation)
        self._control = self._launched.control
        self._ready = False
        self.judge = JudgeProcess(self)
        return self

    def wait_until_ready(self) -> None:
        """Return when workers can be forked: starting takes seconds, which count for no submission.

        Raises EngineFailed, or UsageError if a library is missing.
        """
        self._start_again()
        with self._lock:
            if self._ready:
                return
            self._control.settimeout(_START_SECONDS)
            try:
                answer = json.loads(self._control.recv(65536) or b"{}")
            except (OSError, ValueError):
                answer = {}
            if not answer.get("ready"):
                refuse_missing_leaves(self.course)
                reason = answer.get("failed") or f"it ended with status {self._launched.process.poll()}"
                raise EngineFailed(
                    f"the grading engine cannot start: {reason.strip().splitlines()[-1]}",
                    this_python(),
                    f"{answer.get('next') or with_extra('grading')}; then grade again",
                )
            self._control.settimeout(None)
            threading.Thread(target=self._listen, args=(self._control,), daemon=True).start()
            self._ready = True

    def _start_again(self) -> None:
        """If the fork server was ended, by the machine's lack of memory or by a person, start another one; not for ever."""
        with self._lock:
            if not self._failure:
                return
            if self._restarts >= _MOST_RESTARTS:
                raise EngineFailed(self._failure, "", "grade again: the run goes on where it stopped")
            self._restarts += 1
            self._launched.end()
            self._launched = launch(self.course, self.isolation)
            self._control = self._launched.control
            self._ready = False
            self._failure = ""

    def __exit__(self, *_: object) -> None:
        self.judge.end()
        self._launched.end()

    def _listen(self, control: socket.socket) -> None:
        """Note how each worker ended, until the fork server ends."""
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
            report = json.loads(message)
            worker = self._ended.pop(report["ended"], None)
            if worker is not None:
                worker.code = report["code"]
                worker.refused = report["refused"]
                worker.crowded = report["crowded"]
                worker.event.set()

    @contextlib.contextmanager
    def worker(
        self, files: dict[str, bytes], limits: GradingLimits | None = None, role: str = "worker"
    ) -> Iterator[Worker]:
        """A sealed fork with these files in its scratch folder. It is killed, with all that it started, when the block ends.

        ``limits``: the limits of its lesson, or None for those of all lessons. ``role``: ``worker`` or ``judge``.

        Waits if the machine has no room for another process now. Raises EngineFailed if it never has room, and if the fork
        server ends meanwhile; the next call starts another one.
        """
        deadline = time.monotonic() + _ROOM_SECONDS
        while True:
            with contextlib.ExitStack() as stack:
                try:
                    worker = stack.enter_context(self._forked(role, files, limits or self.limits))
                except NoRoom as full:
                    if time.monotonic() > deadline:
                        raise EngineFailed(
                            f"there is no room for another process: {full}",
                            "the limits of this machine or container",
                            "grade again, fewer submissions at a time: add --workers 1",
                        ) from None
                else:
                    yield worker
                    return
            time.sleep(_AGAIN_SECONDS)

    @contextlib.contextmanager
    def _forked(self, role: str, files: dict[str, bytes], limits: GradingLimits) -> Iterator[Worker]:
        self.wait_until_ready()
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise NoRoom(error.strerror) from None
        ended = Ended()
        has_own = self.isolation is Isolation.FULL
        scratch = "" if has_own else tempfile.mkdtemp(prefix="scratch-", dir=self._launched.folder)
        bounds = {
            "memory": limits.memory_mb << 20,
            "processes": min(self._processes, limits.processes),
            "files": limits.open_files,
            "disk": limits.disk_mb << 20,
            "seconds": int(limits.submission_seconds) + _MARGIN_SECONDS,
        }
        with self._lock, contextlib.suppress(OSError):
            self._next += 1
            self._ended[self._next] = ended
            request = {"id": self._next, "scratch": scratch, "role": role, "limits": bounds}
            # Where nobody takes it, the fork server has ended: the listener says so.
            socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno()])
        theirs.close()
        unbounded = scratch if self.isolation is Isolation.REDUCED else None
        worker = Worker(ours, ended, limits, unbounded)
        try:
            worker.greet(files)
            self._restarts = 0
            yield worker
        finally:
            worker.end()
            if scratch:
                # What it started ends with it, and may take a moment.
                ended.event.wait(_END_SECONDS)
                remove_folder(scratch)
