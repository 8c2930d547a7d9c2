"""How far a run is: a bar in a terminal, a plain line every ten seconds in a pipe. Always on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console

from nbproof.marking.results import Verdict
from nbproof.run.watch import Watch
from nbproof.terminal import progress
from nbproof.text import counted

__all__ = ["watching"]

EVERY = 10.0
"""Seconds between two lines in a pipe."""


class _Telling(Watch):
    """In a terminal by a bar, whose ``step`` it takes; in a pipe or a log by a line now and then."""

    def __init__(self, step: Callable[[int, int, str], None] | None = None) -> None:
        self._step, self._said = step, time.monotonic()

    def planned(self, total: int, kept: int, reasons: Sequence[str]) -> None:
        super().planned(total, kept, reasons)
        _tell(*reasons)
        if total and self._step is None:
            _tell(f"grading {counted(total, 'submission')}; {kept} need no grading")

    def started(self, name: str) -> None:
        if self._step is not None:
            self._step(self.done, self.total, name)

    def marked(self, name: str, verdict: Verdict) -> None:
        super().marked(name, verdict)
        if self._step is not None:
            self._step(self.done, self.total, name)
        elif time.monotonic() - self._said >= EVERY:
            self._said = time.monotonic()
            _tell(f"graded {self.done} of {self.total}")


def _tell(*lines: str) -> None:
    # Whoever reads the other end may have gone; the run goes on.
    with contextlib.suppress(OSError, ValueError):
        for line in lines:
            print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def watching(quiet: bool = False) -> Iterator[Watch]:
    """What tells how far a run is, as long as this block lasts."""
    if quiet:
        yield Watch()
    elif not Console(stderr=True).is_terminal:
        yield _Telling()
    else:
        with progress("grading") as step:
            yield _Telling(step)
