"""How far a run is: a small live block in a terminal, a plain line every ten seconds in a pipe. Always on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from nbproof.marking.results import STATUSES, Score, SubmissionVerdict
from nbproof.run.watch import Watch
from nbproof.terminal import say
from nbproof.text import counted, some_of

__all__ = ["Counting", "duration", "watching"]

EVERY = 10.0
"""Seconds between two lines in a pipe."""

_COLOURS = {"passed": "green", "failed": "red", "error": "red", "not answered": "dim", "uncertain": "yellow"}
_NOW = 4
"""Names of what is being graded that a terminal shows."""


def duration(seconds: float) -> str:
    """For people: "8 s", "3 min", "1 h 20 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class Counting(Watch):
    """Counts, and says nothing."""

    def __init__(self) -> None:
        self.total = self.done = self.recovered = self.not_gradable = 0
        self.exercises: Counter[str] = Counter()
        self.now: dict[str, None] = {}
        self.scores: Sequence[Score] = ()
        """Of a run that did not come to its end: what it has reached."""
        self._first = 0.0

    def planned(self, total: int, kept: int, reasons: Sequence[str]) -> None:
        """See :class:`Watch`."""
        self.total = total

    def started(self, name: str) -> None:
        """See :class:`Watch`."""
        self.now[name] = None

    def tried(self, name: str) -> None:
        """See :class:`Watch`."""
        self.now.pop(name, None)

    def marked(self, name: str, verdict: SubmissionVerdict) -> None:
        """See :class:`Watch`."""
        self.now.pop(name, None)
        self.done += 1
        self._first = self._first or time.monotonic()
        self.recovered += bool(verdict.recovered)
        self.not_gradable += bool(verdict.problem)
        self.exercises.update(one.status for one in verdict.exercises)

    def stopped(self, scores: Sequence[Score]) -> None:
        """See :class:`Watch`."""
        self.scores = scores

    def left(self) -> str:
        """How long it will still take, if that can be told: what comes before the first has its own pace."""
        if self.done < 2 or self.done >= self.total:
            return ""
        passed = time.monotonic() - self._first
        return f"about {duration(passed / (self.done - 1) * (self.total - self.done))} left"

    def counts(self) -> str:
        """How the exercises ended so far, and what is to be known of submissions."""
        parts = [f"{self.exercises[status]} {status}" for status in STATUSES if self.exercises[status]]
        others = [f"{self.recovered} recovered"] * bool(self.recovered)
        others += [f"{self.not_gradable} not gradable"] * bool(self.not_gradable)
        text = f"exercises: {', '.join(parts)}" if parts else ""
        return text + ("; " if text and others else "") + (f"submissions: {', '.join(others)}" if others else "")


class _Lines(Counting):
    """For a pipe or a log."""

    def __init__(self) -> None:
        super().__init__()
        self._said = time.monotonic()

    def planned(self, total: int, kept: int, reasons: Sequence[str]) -> None:
        super().planned(total, kept, reasons)
        _tell(reasons)
        if total:
            unchanged = f"; {kept} need no grading" if kept else ""
            _tell([f"grading {counted(total, 'submission')}{unchanged}"])

    def marked(self, name: str, verdict: SubmissionVerdict) -> None:
        super().marked(name, verdict)
        if time.monotonic() - self._said >= EVERY and self.done < self.total:
            self._said = time.monotonic()
            parts = (f"graded {self.done} of {self.total}", self.left(), self.counts())
            _tell(["; ".join(part for part in parts if part)])


def _tell(lines: Sequence[str]) -> None:
    # Whoever reads the other end may have gone; the run goes on.
    with contextlib.suppress(OSError, ValueError):
        for line in lines:
            print(line, file=sys.stderr, flush=True)


class _Block(Counting):
    """For a terminal: bar and estimate, counts, what is being graded now."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._bar = Progress(
            TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"), console=console,
        )  # fmt: skip
        self._task = self._bar.add_task("", total=None, left="")

    def planned(self, total: int, kept: int, reasons: Sequence[str]) -> None:
        super().planned(total, kept, reasons)
        for reason in reasons:
            say(self._console, reason)

    def __rich__(self) -> Group | Text:
        if not self.total:
            return Text("looking through what was handed in", style="dim")
        self._bar.update(self._task, total=self.total, completed=self.done, left=self.left())
        counts = Text("  ").join(
            Text(f"{self.exercises[status]} {status}", style=_COLOURS.get(status, "yellow"))
            for status in STATUSES
            if self.exercises[status]
        )
        others = "".join(
            f"  {number} {what}"
            for number, what in ((self.recovered, "recovered"), (self.not_gradable, "not gradable"))
            if number
        )
        now = some_of(list(self.now), _NOW)
        if not self.done and not now:
            now = "starting the workers"
        lines = [counts + Text(others, style="yellow"), Text(f"now: {now}" if now else "", "dim", no_wrap=True)]
        return Group(self._bar.get_renderable(), *(Text("  ") + line for line in lines if line))


@contextlib.contextmanager
def watching(quiet: bool = False) -> Iterator[Counting]:
    """What tells how far a run is, as long as this block lasts."""
    console = Console(stderr=True)
    if quiet:
        yield Counting()
    elif not console.is_terminal:
        yield _Lines()
    else:
        block = _Block(console)
        with Live(block, console=console, refresh_per_second=4, transient=True, redirect_stderr=False):
            yield block
