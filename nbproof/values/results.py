"""What a check found, as frozen data: for the panel, the contract and the graders alike."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Findings are passed on where nobody reads evidence.
    from nbproof.values.evidence import Evidence

__all__ = ["CheckFailed", "CheckResult", "ProbeError", "ProbeResult"]


@dataclass(frozen=True)
class ProbeError:
    """An exception on the learner's side of a check, as text only."""

    kind: str
    """The exception's class name; ``Unanswered`` if a name that the check needs is missing."""
    message: str
    line: str = ""
    """Where in the learner's code, with the line itself; empty if no frame was theirs."""
    inside: str = ""
    """The library's function that raised it, or called what raised it (``_call_impl``); empty for other code."""


@dataclass(frozen=True)
class ProbeResult:
    """What a probe brought back: evidence, or the trouble that ended it, and what was printed meanwhile."""

    evidence: Evidence = None
    trouble: ProbeError | None = None
    printed: str = ""


@dataclass(frozen=True)
class CheckResult:
    """The verdict on one check."""

    exercise: str
    check: str
    """The check's class name; unique within its exercise."""
    asked: str
    """What the check asks, in one sentence."""
    passed: bool
    seed: int
    sentence: str = ""
    """What is wrong: ``answer[1] has shape (3,), wanted (3, 1)``; empty if passed."""
    got: str = ""
    wanted: str = ""
    where: str = ""
    hint: str | None = None
    """The id of the misconception; None if none is certain."""
    line: str = ""
    printed: str = ""
    compared: tuple[Evidence, object] | None = field(default=None, compare=False, repr=False)
    """What was brought and what was wanted, for a picture of both; None if nobody may see it, or nothing came."""


class CheckFailed(AssertionError):
    """Ends a test cell whose check failed; says what is wrong without a traceback of the grader's insides."""

    def __init__(self, finding: CheckResult, text: str) -> None:
        super().__init__(text)
        self.finding = finding

    def _render_traceback_(self) -> list[str]:
        # IPython shows these lines instead of a traceback through the checker. In a notebook the panel above has
        # said everything; nbgrader's Validate, and a terminal, show the error without it.
        from nbproof.front_end import shell

        if "NBGRADER_EXECUTION" not in os.environ and shell() is not None:
            return [f"{type(self).__name__}: not yet, see above"]
        lines = str(self).splitlines()
        shown = lines if "NBGRADER_EXECUTION" in os.environ else lines[:1]
        return [f"{type(self).__name__}: " + "\n".join(shown)]
