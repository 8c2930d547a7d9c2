"""The process that marks for a Dask worker: ``python -P -m nbproof_dask.station FOLDER LIFE SLOTS``, once for each run.

It has an engine of its own. Dask's process never sees a lesson, a hand-in or a verdict but as bytes, and what a hand-in can
end at worst is this process. FOLDER: an empty one, for the course's modules. LIFE: the descriptor of a line that is cut when
this process has to end. SLOTS: the descriptors, in JSON, of the lines on which it is asked: one question at a time on each.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from nbproof.command import called_for
from nbproof.errors import CourseError
from nbproof.limits import GradingLimits
from nbproof.run.pool import Pool, local_pool
from nbproof.sandbox import wire
from nbproof.sandbox.exceptions import EngineLost
from nbproof.sandbox.isolation import Isolation, isolation_or_refuse
from nbproof.sandbox.launch import refuse_if_exposed
from nbproof.sandbox.machine import room_here
from nbproof.text import in_one_line
from nbproof_dask.fitness import Card, shortfalls, versions
from nbproof_dask.parcels import Answer, Said, Work, hand_in_of, verdict_as_bytes

__all__ = ["MOST", "main"]

MOST = 1 << 30
"""Bytes of one message between a worker and its station: what limits a hand-in has been asked before."""


def main() -> int:
    """Mark until the worker hangs up."""
    folder, life = Path(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))
    lines = [socket.socket(fileno=int(number)) for number in json.loads(sys.argv[3])]
    first = lines[0]
    header, data = wire.receive(first, most=MOST)
    try:
        _serve(Work.read(data), folder, life, lines, is_tried=bool(header["tried"]))
    except CourseError as error:
        _send(first, Answer.because(Said.UNFIT, "; ".join(filter(None, (error.fact, error.next_command)))))
    except Exception as error:
        _send(first, Answer.because(Said.UNFIT, f"{type(error).__name__}: {in_one_line(error)}"))
    return 0


def _serve(work: Work, folder: Path, life: socket.socket, lines: list[socket.socket], *, is_tried: bool) -> None:
    """``is_tried``: whether the reference answers have been marked here before."""
    # First of all: to try it, processes are forked, and later there are threads here.
    if work.isolation is not Isolation.NONE:
        isolation_or_refuse(wanted=work.isolation.value)
    blueprints = work.unpacked(folder)
    course = next(iter(blueprints.values())).course
    called_for(course)
    refuse_if_exposed(course, course.root)
    course.enter()
    _refuse_another(course.package, course.folder)
    limits = GradingLimits(**work.limits)
    widest = limits.widest()
    slots = min(len(lines), room_here().fit(widest.processes, widest.memory_mb).workers)
    with local_pool(course, blueprints, work.seed, limits, isolation=work.isolation, workers=slots) as pool:
        short: Mapping[str, str] = {} if is_tried else shortfalls(blueprints, pool)
        card = Card(slots, work.isolation.value, versions(blueprints), short)
        _send(lines[0], Answer(Said.FIT, card.as_bytes()))
        for line in lines:
            threading.Thread(target=_listen, args=(line, pool), daemon=True).start()
        life.recv(1)
    # What still runs in a thread is a submission that nobody waits for any more.
    os._exit(0)


def _refuse_another(package: str, folder: Path) -> None:
    """Raise CourseError if lessons would import another package than the one that has travelled."""
    found = getattr(sys.modules.get(package), "__file__", None)
    if found is not None and not Path(found).is_relative_to(folder.resolve()):
        raise CourseError(
            f"another package called {package} is installed there, in {Path(found).parent}", "", "remove it"
        )


def _listen(line: socket.socket, pool: Pool) -> None:
    """Answer the questions that come on one line, until it is cut."""
    while True:
        try:
            _, data = wire.receive(line, most=MOST)
        except wire.Closed:
            return
        try:
            answer = Answer(Said.VERDICT, verdict_as_bytes(pool.submit(hand_in_of(data)).result()))
        except CourseError as error:
            said = Said.ENDED if isinstance(error, EngineLost) else Said.UNFIT
            answer = Answer.because(said, error.fact)
        except Exception as error:  # as in a run without a cluster: it is about this hand-in, not about the machine
            answer = Answer.because(Said.ENDED, f"{type(error).__name__}: {in_one_line(error)}")
        _send(line, answer)


def _send(line: socket.socket, answer: Answer) -> None:
    wire.send(line, {}, answer.as_bytes())


if __name__ == "__main__":
    sys.exit(main())
