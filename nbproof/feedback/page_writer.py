"""Who writes feedback pages: forks of the warm interpreter, other processes, or this one.

A fork of the warm interpreter has imported all that draws pictures. It runs no learner's code and is not sealed: it writes where
whoever grades writes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path

from nbproof.feedback.page_task import PageTrouble, Task, write_page
from nbproof.interrupt import for_this_process_only

__all__ = ["serve", "written", "written_by"]

_FEW = 4
"""Pages that are written sooner than further processes are started."""


def serve(line: Connection) -> None:
    """Write one page after another until whoever asks hangs up."""
    while True:
        try:
            root, task = line.recv()
            line.send(write_page(root, task))
        except (EOFError, OSError):
            return


def written_by(
    writers: Sequence[Connection], root: Path, tasks: Sequence[Task]
) -> Generator[tuple[Task, PageTrouble], None, tuple[list[Task], list[Task]]]:
    """Each task as it is done. Returns those that no writer was left for, and those over which one has ended."""
    idle, waiting = list(writers), list(reversed(tasks))
    busy: dict[Connection, Task] = {}
    fatal: list[Task] = []
    while waiting or busy:
        while idle and waiting:
            line = idle.pop()
            try:
                line.send((root, waiting[-1]))
            except OSError:  # its process has ended
                continue
            busy[line] = waiting.pop()
        if not busy:
            break
        ready = wait(list(busy))
        for line in [one for one in busy if one in ready]:
            task = busy.pop(line)
            try:
                trouble = line.recv()
            except (EOFError, OSError):
                fatal.append(task)
                continue
            idle.append(line)
            yield task, trouble
    return waiting[::-1], fatal


def written(
    root: Path, tasks: Sequence[Task], workers: int, writers: Sequence[Connection] = ()
) -> Generator[tuple[Task, PageTrouble], None, None]:
    """Each task as it is done, with the reason if it failed."""
    alone: list[Task] = []
    if writers:
        tasks, alone = yield from written_by(writers, root, tasks)
    yield from _written_here(root, tasks, workers, alone)


def _written_here(
    root: Path, tasks: Sequence[Task], workers: int, alone: list[Task]
) -> Generator[tuple[Task, PageTrouble], None, None]:
    """``alone``: tasks over which a process has ended."""
    if not alone and (len(tasks) <= _FEW or workers == 1 or not _has_semaphores()):
        for task in tasks:
            yield task, write_page(root, task)
        return
    with _processes(min(workers, len(tasks) or 1)) as pool:
        with for_this_process_only():
            pending = {pool.submit(write_page, root, task): task for task in tasks}
        for future in as_completed(pending):
            try:
                yield pending[future], future.result()
            except BrokenProcessPool:
                alone.append(pending[future])
    # A page took its process with it, and every page behind it: one by one they tell which.
    while alone:
        with _processes(1) as pool:
            try:
                while alone:
                    with for_this_process_only():
                        future = pool.submit(write_page, root, alone[0])
                    trouble = future.result()
                    yield alone.pop(0), trouble
            except BrokenProcessPool:
                yield (
                    alone.pop(0),
                    PageTrouble("the process that wrote it was ended from outside, perhaps for its memory"),
                )


def _has_semaphores() -> bool:
    """Whether processes can share work here: some containers have no /dev/shm, or one that is closed."""
    try:
        get_context("spawn").Lock()
    except (OSError, ImportError):
        return False
    return True


@contextlib.contextmanager
def _processes(count: int) -> Iterator[ProcessPoolExecutor]:
    # Fresh ones: this process may hold threads and sockets.
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    try:
        yield pool
    finally:
        # Interrupted, nobody waits for hundreds of pages: those that are being written come whole, the rest another time.
        pool.shutdown(cancel_futures=True)
