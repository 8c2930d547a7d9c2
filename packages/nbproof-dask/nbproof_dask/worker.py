"""In the process of a Dask worker: one station for each run, which is asked with bytes and answers with bytes.

The process of a run calls these functions by Dask, and gets what they return, which is always an answer as bytes.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field

from nbproof.sandbox import wire
from nbproof.sandbox.launch import CPU_KIND
from nbproof_dask.parcels import Answer, Said, Work
from nbproof_dask.station import MOST

__all__ = ["join", "leave", "mark"]

_IDLE_SECONDS = 900.0
"""After so long without a question a run is taken to be over: its process was ended before it could say so."""


@dataclass
class _Station:
    """A process that marks for one run, and the lines on which it is asked."""

    data: bytes
    """The work, for the case that the process has to be started again."""
    slots: int
    is_tried: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)
    used: float = field(default_factory=time.monotonic)
    _process: subprocess.Popen[bytes] | None = None
    _life: socket.socket | None = None
    _lines: queue.Queue[socket.socket] = field(default_factory=queue.Queue)
    _folder: str = ""
    _is_over: bool = False

    def start(self) -> Answer:
        """Start the process. Returns what it says of itself. The caller holds the lock."""
        if self._is_over:
            return Answer(Said.UNFIT, b"the run is over")
        self._folder = tempfile.mkdtemp(prefix="station-")
        life, their_life = socket.socketpair()
        pairs = [socket.socketpair() for _ in range(self.slots)]
        theirs = [far.fileno() for _, far in pairs]
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-P", "-m", "nbproof_dask.station"),
                *(self._folder, str(their_life.fileno()), str(theirs)),
            ],
            pass_fds=[their_life.fileno(), *theirs],
            env={name: value for name, value in os.environ.items() if name not in CPU_KIND} | self._environment(),
            stdin=subprocess.DEVNULL,
            cwd=self._folder,
            # Ctrl-C where the worker runs reaches the worker alone, which then ends this.
            start_new_session=True,
        )
        self._life = life
        for far in (their_life, *(far for _, far in pairs)):
            far.close()
        first = pairs[0][0]
        answer = _asked(first, self.data, tried=self.is_tried)
        if answer.said is not Said.FIT or self._is_over:
            self._cut()
            return answer
        self.is_tried = True
        for near, _ in pairs:
            self._lines.put(near)
        return answer

    def _environment(self) -> dict[str, str]:
        return Work.read(self.data).environment

    def ask(self, hand_in: bytes) -> Answer:
        """Have a hand-in marked. If the process is gone, another one is started first."""
        with self.lock:
            self.used = time.monotonic()
            if self._process is None or self._process.poll() is not None:
                self._cut()
                answer = self.start()
                if answer.said is not Said.FIT:
                    return answer
            lines = self._lines
        line = lines.get()
        try:
            return _asked(line, hand_in)
        finally:
            self.used = time.monotonic()
            lines.put(line)

    def end(self) -> None:
        """End the process, for good. What is being marked comes to nothing."""
        self._is_over = True
        self._cut()

    def _cut(self) -> None:
        process, self._process = self._process, None
        if self._life is not None:
            self._life.close()
        self._lines = queue.Queue()
        if process is not None:
            # Whatever it has forked ends with it.
            process.kill()
            process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def _asked(line: socket.socket, data: bytes, **header: bool) -> Answer:
    try:
        wire.send(line, header, data)
        return Answer.of(wire.receive(line, most=MOST)[1])
    except wire.Closed:
        return Answer(Said.ENDED, b"the process that marks ended")


_stations: dict[str, _Station] = {}
_over: set[str] = set()
_lock = threading.Lock()


def join(run: str, work: bytes, slots: int) -> bytes:
    """Start marking for a run, up to so many submissions at a time. Answers whether this worker is fit for it."""
    with _lock:
        for name in [name for name, one in _stations.items() if time.monotonic() - one.used > _IDLE_SECONDS]:
            _stations.pop(name).end()
        if run in _over:
            return Answer(Said.UNFIT, b"the run is over").as_bytes()
        station = _stations.setdefault(run, _Station(work, slots))
    with station.lock:
        return station.start().as_bytes()


def mark(run: str, hand_in: bytes) -> bytes:
    """Answers with the verdict on a hand-in."""
    station = _stations.get(run)
    if station is None:
        return Answer(Said.UNFIT, b"it has left the run").as_bytes()
    return station.ask(hand_in).as_bytes()


def leave(run: str) -> None:
    """The run is over: what it still does here comes to nothing."""
    with _lock:
        _over.add(run)
        station = _stations.pop(run, None)
    if station is not None:
        with contextlib.suppress(OSError):
            station.end()
