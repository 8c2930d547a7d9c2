"""What checks found, in English sentences: made here, at the edge, and read by nobody.

Another language is one more class with these methods and words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nbproof.text import counted
from nbproof.values.compare import Detail, Difference, Differs
from nbproof.values.results import Cause, Finding, Outcome, ProbeError, Reason, Status

__all__ = ["ENGLISH", "HIDDEN_FAILED", "Language"]

HIDDEN_FAILED = "A hidden check failed."
"""All that may be said of a hidden check that brought what it was not asked for."""


class Language:
    """English."""

    asked, looks_like = "asked", "Looks like"
    where, got, wanted = "where", "got", "wanted"
    passed, not_yet = "passed", "not yet"
    printed = "printed during the check"
    ask_for_help = "Run `hint()` in a cell for help."
    untouched = "is still as you got it. Write your answer in the TODO cell above, run that cell, then this one."

    statuses: Mapping[Status, str] = {
        Status.PASSED: "Passed",
        Status.FAILED: "Not yet",
        Status.ERROR: "Ended with an error",
        Status.TIMEOUT: "Ran out of time",
        Status.OUT_OF_MEMORY: "Ran out of memory",
        Status.KILLED: "Stopped by itself",
        Status.NOT_ANSWERED: "Not answered",
        Status.UNCERTAIN: "Waits for your instructor",
    }

    def finding(self, finding: Finding) -> str:
        """What is wrong: ``answer[1] has shape (3,), wanted (3, 1)``; empty if nothing is, or if it was not asked."""
        if finding.unjudged is not None:
            return self.unjudged(finding.unjudged)
        if finding.trouble is not None:
            return self.hidden_trouble(finding.trouble) if finding.hidden else self.trouble(finding.trouble)
        if finding.difference is not None:
            return self.difference(finding.difference)
        return HIDDEN_FAILED if finding.hidden and not finding.passed else ""

    def difference(self, one: Difference) -> str:
        """The first difference in one sentence."""
        said = self.found(one)
        if one.wanted is None:
            return f"{said}, which is not right"
        if one.wanted:
            only = "only " if one.kind is Differs.EXTRA else ""
            said += f", wanted {only}{one.wanted}"
        detail = self.detail(one)
        return f"{said} ({detail})" if detail else said

    def found(self, one: Difference) -> str:
        """What was found, and where."""
        match one.kind:
            case Differs.SHAPE | Differs.DTYPE:
                return f"{one.where} has {one.kind} {one.got}"
            case Differs.COUNT | Differs.KEY_MISSING | Differs.KEY_EXTRA:
                return f"{one.where} has {self.brought(one)}"
            case Differs.MISSING:
                return f"{one.where} is missing"
            case Differs.EXTRA:
                return f"{one.where} is there"
        return f"{one.where} is {one.got}"

    def brought(self, one: Difference) -> str:
        """What stands there."""
        if one.kind is Differs.COUNT:
            return counted(int(one.got), "item") if one.got.isdigit() else one.got
        keys = one.kind in (Differs.KEY_MISSING, Differs.KEY_EXTRA)
        return f"the keys {one.got}" if keys else one.got

    def summary(self, one: Difference) -> str:
        """Of values that are shown below each other: what tells them apart at a glance; empty if nothing does."""
        shown = one.wanted is not None and one.kind in (Differs.VALUE, Differs.NONFINITE)
        return self.detail(one) if shown else ""

    def detail(self, one: Difference) -> str:
        """What tells more of a difference than both sides do; empty if nothing does."""
        detail = one.detail
        if detail is None:
            return ""
        match one.kind:
            case Differs.COUNT:
                return f"got {detail.got}"
            case Differs.KEY_MISSING:
                return f"{detail.got} is missing"
            case Differs.KEY_EXTRA:
                return f"{detail.got} is one too many"
            case Differs.NONFINITE:
                return f"{detail.got} at index {_index(detail)}"
        both = f"{detail.got} instead of {detail.wanted}"
        if detail.of == 1:
            return both
        return f"{detail.differ} of {detail.of} elements differ, first at index {_index(detail)}: {both}"

    def trouble(self, trouble: ProbeError) -> str:
        """An error of the learner's code."""
        kind = "" if trouble.kind == "Unanswered" else trouble.kind
        return ": ".join(part for part in (kind, trouble.message) if part)

    def hidden_trouble(self, trouble: ProbeError) -> str:
        """An error in a hidden check, of which only its form is known."""
        if trouble.kind == "Unanswered":
            return f"{trouble.message} when a hidden check asks for it"
        said = ": ".join(part for part in (trouble.kind or "An error of another kind", trouble.message) if part)
        return f"{said}, in a hidden check"

    def unjudged(self, error: str) -> str:
        """Why nothing is known of what was brought."""
        if error:
            return f"What your code brought cannot be compared with what is wanted ({error}); please report this"
        return "What your code brought cannot be compared: that takes more memory or time than there is for it"

    def reason(self, reason: Reason) -> str:
        """What ended an exercise, if not a check."""
        return self.reasons[reason.cause](reason)

    reasons: Mapping[Cause, Callable[[Reason], str]] = {
        Cause.EXERCISE_TIME: lambda why: (
            f"Your code was still running after {why.limit:g} seconds, the limit for one exercise."
        ),
        Cause.NOTEBOOK_TIME: lambda why: f"The time for the whole notebook, {why.limit:g} seconds, was over.",
        Cause.MEMORY: lambda why: f"Your code used more than {why.limit:.0f} MB of memory.",
        Cause.DISK: lambda why: f"Your code wrote more than {why.limit:.0f} MB of files, or {why.detail} of them.",
        Cause.PROCESSES: lambda why: f"Your code started more than {why.limit:.0f} processes and threads.",
        Cause.PROTOCOL: lambda why: f"Your code interfered with the process that it ran in: {why.detail}.",
        Cause.ENDED: lambda why: f"Your code ended the process that it ran in: {why.detail}.",
        Cause.ERROR: lambda why: f"Your cell ended with an error: {why.detail}",
        Cause.EARLY: lambda why: "Your code ended before every check had run.",
        Cause.LOST: lambda why: why.detail,
    }

    def outcome(self, one: Outcome) -> str:
        """How an exercise ended, in one sentence."""
        if one.reason is not None:
            return self.reason(one.reason)
        if one.status is Status.PASSED:
            return "Every check passed."
        if one.status is Status.NOT_ANSWERED:
            return "The TODO cell is as it was handed out."
        fault = next((fault for fault in one.faults if fault.tells), None)
        if fault is None:
            return ""
        said = self.finding(fault)
        return f"{said} ({fault.line})" if fault.line else said

    def share(self, findings: Sequence[Finding], withheld: int) -> tuple[str, str]:
        """What a panel's first line says: the outcome, and how many checks it rests on."""
        passed = sum(finding.passed for finding in findings)
        share = f"({passed} of {len(findings)} checks)" if len(findings) > 1 else ""
        if passed < len(findings):
            return self.not_yet, share
        if not withheld:
            return self.passed, share
        shown = "the check" if passed == 1 else f"the {passed} checks"
        return f"passed {shown} shown here", f"({withheld} more {'runs' if withheld == 1 else 'run'} when it is graded)"


def _index(detail: Detail) -> str:
    return str(detail.index[0]) if len(detail.index) == 1 else str(detail.index)


ENGLISH = Language()
