"""Ctrl-C, at any moment: one sentence and exit code 130, never a traceback, neither here nor in a process started here.

The first one ends what is going on, which clears up after itself. A second one must not cut that off, and a third one
leaves at once. What is started within :func:`for_this_process_only` hears of none of them: the code that started it ends it.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType

__all__ = ["EXIT_CODE", "for_this_process_only", "listen", "told_to_stop"]

EXIT_CODE = 130
"""What shells expect of a program that was interrupted: 128 and the number of the signal."""

_CLEARING_UP = b"still clearing up; Ctrl-C once more leaves at once\n"


class _Heard:
    """Counts how often Ctrl-C came since :func:`listen`."""

    times = 0


def listen() -> None:
    """Raise KeyboardInterrupt at the first Ctrl-C only. For a process of our own: a library leaves signals alone."""
    signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _Heard.times += 1
    if _Heard.times == 1:
        raise KeyboardInterrupt
    if _Heard.times > 2:
        os._exit(EXIT_CODE)
    with contextlib.suppress(OSError):
        os.write(2, _CLEARING_UP)


def told_to_stop() -> bool:
    """Whether Ctrl-C came: an error since then may be what some library made of it."""
    return _Heard.times > 0


@contextlib.contextmanager
def for_this_process_only() -> Iterator[None]:
    """Processes and threads that are started meanwhile never hear of Ctrl-C; here one that comes now is heard afterwards. Not for
    Windows, which has no such signals.
    """
    from multiprocessing import resource_tracker

    # Started with the first process if it is not there yet, it would let the signal through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
