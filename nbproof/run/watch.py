"""What a run tells while it goes on: to a terminal, to a pipe, to nobody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nbproof.gradebook.marks import Mark
from nbproof.marking.results import Verdict

__all__ = ["Watch"]


class Watch:
    """Counts, and says nothing."""

    total: int = 0
    done: int = 0
    marks: tuple[Mark, ...] = ()
    """Of a run that did not come to its end: what it has reached, and the gradebook holds."""

    def planned(self, total: int, kept: int, reasons: Sequence[str]) -> None:
        """``total`` submissions are to be marked, ``kept`` need not; ``reasons``: what is graded again, and why."""
        self.total = total

    def started(self, name: str) -> None:
        """``learner/lesson`` is being marked now; the first ones are ``reference answers/lesson``."""

    def marked(self, name: str, verdict: Verdict) -> None:
        """``learner/lesson`` has its verdict, and it is written down."""
        self.done += 1

    def stopped(self, marks: Iterable[Mark]) -> None:
        """The run ends before its end."""
        self.marks = tuple(marks)
