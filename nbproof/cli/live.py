"""How far a run is: a bar in a terminal, a plain line every ten seconds in a pipe. Always on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rich.console import Console

from nbproof.gradebook.marks import Mark
from nbproof.marking.results import STATUSES, Verdict
from nbproof.run.watch import Watch
from nbproof.terminal import progress
from nbproof.text import counted

__all__ = ["Counting", "duration", "ended", "watching"]

EVERY = 10.0
"""Seconds between two lines in a pipe."""


def duration(seconds: float) -> str:
    """For people: "8 s", "3 min", "1 h 20 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def ended(statuses: Mapping[str, int]) -> str:
    """``3 passed, 1 failed``: how exercises ended."""
    return ", ".join(f"{statuses[status]} {status}" for status in STATUSES if statuses[status])


class Counting(Watch):
    """Counts, and says nothing."""

    def __init__(self) -> None:
        self.total = self.done = self.recovered = self.not_gradable = 0
        self.exercises: Counter[str] = Counter()
        self.marks: tuple[Mark, ...] = ()
        """Of a run that did not come to its end: what it has reached."""

    def planned(self, total: int, kept: int, reasons: Sequence[str]) -> None:
        """See :class:`Watch`."""
        self.total = total

    def marked(self, name: str, verdict: Verdict) -> None:
        """See :class:`Watch`."""
        self.done += 1
        self.recovered += bool(verdict.recovered)
        self.not_gradable += bool(verdict.problem)
        self.exercises.update(one.status for one in verdict.exercises)

    def stopped(self, marks: Iterable[Mark]) -> None:
        """See :class:`Watch`."""
        self.marks = tuple(marks)

    def counts(self) -> str:
        """How the exercises ended so far, and what is to be known of submissions."""
        parts = (
            ("exercises: ", ended(self.exercises)),
            ("recovered submissions: ", str(self.recovered or "")),
            ("not gradable: ", str(self.not_gradable or "")),
        )
        return "; ".join(name + told for name, told in parts if told)


class _Telling(Counting):
    """In a terminal by a bar, whose ``step`` it takes; in a pipe or a log by a line now and then."""

    def __init__(self, step: Callable[[int, int, str], None] | None = None) -> None:
        super().__init__()
        self._step, self._said = step, time.monotonic()

    def planned(self, total: int, kept: int, reasons: Sequence[str]) -> None:
        super().planned(total, kept, reasons)
        _tell(*reasons)
        if total and self._step is None:
            _tell(f"grading {counted(total, 'submission')}" + (f"; {kept} need no grading" if kept else ""))

    def started(self, name: str) -> None:
        if self._step is not None:
            self._step(self.done, self.total, name)

    def marked(self, name: str, verdict: Verdict) -> None:
        super().marked(name, verdict)
        if self._step is not None:
            self._step(self.done, self.total, self.counts())
        elif time.monotonic() - self._said >= EVERY and self.done < self.total:
            self._said = time.monotonic()
            _tell(f"graded {self.done} of {self.total}; {self.counts()}")


def _tell(*lines: str) -> None:
    # Whoever reads the other end may have gone; the run goes on.
    with contextlib.suppress(OSError, ValueError):
        for line in lines:
            print(line, file=sys.stderr, flush=True)


@contextlib.contextmanager
def watching(quiet: bool = False) -> Iterator[Counting]:
    """What tells how far a run is, as long as this block lasts."""
    if quiet:
        yield Counting()
    elif not Console(stderr=True).is_terminal:
        yield _Telling()
    else:
        with progress("grading") as step:
            yield _Telling(step)
