"""Who writes feedback pages: forks of the warm interpreter if there are any, or else this process.

A fork of the warm interpreter has imported all that draws pictures. It runs no learner's code and is not sealed: it writes where
whoever grades writes.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path

from nbproof.feedback.page_task import Task, write_page

__all__ = ["serve", "written"]


def serve(line: Connection) -> None:
    """Write one page after another until whoever asks hangs up."""
    while True:
        try:
            root, task = line.recv()
            line.send(write_page(root, task))
        except (EOFError, OSError):
            return


def written(
    root: Path, tasks: Sequence[Task], writers: Sequence[Connection] = ()
) -> Generator[tuple[Task, str], None, None]:
    """Each task as it is done, with the reason if it failed."""
    waiting, busy = list(reversed(tasks)), dict[Connection, Task]()
    for line in writers:
        _give(line, root, waiting, busy)
    while busy:
        ready = wait(list(busy))
        for line in [one for one in busy if one in ready]:
            task = busy.pop(line)
            try:
                yield task, line.recv()
            except (EOFError, OSError):
                yield task, "the process that wrote it was ended from outside, perhaps for its memory"
                continue
            _give(line, root, waiting, busy)
    for task in reversed(waiting):  # no writer is left for these
        yield task, write_page(root, task)


def _give(line: Connection, root: Path, waiting: list[Task], busy: dict[Connection, Task]) -> None:
    """Send a writer the next task, if there is one, and if the writer is there."""
    if waiting:
        try:
            line.send((root, waiting[-1]))
        except OSError:
            return
        busy[line] = waiting.pop()
