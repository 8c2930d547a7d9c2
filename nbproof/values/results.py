"""The findings of checks, and how exercises ended, as frozen data: for panels, the contract, graders and pages."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from nbproof.values.compare import Difference
from nbproof.values.evidence import Evidence

__all__ = [
    "FAULTS",
    "UNANSWERED",
    "UNTOLD",
    "Cause",
    "CheckFailed",
    "Finding",
    "Outcome",
    "ProbeError",
    "ProbeResult",
    "Reason",
    "Status",
    "first_wrong",
]


UNANSWERED = "Unanswered"
"""The kind of trouble that is no exception: a name that a check needs is not there, or is something else than asked for."""
UNTOLD = "?"
"""Stands for the name of a class that may not be told."""


@dataclass(frozen=True)
class ProbeError:
    """The error that ended a probe on the learner's side, as data: :mod:`nbproof.values.words` makes sentences of it."""

    kind: str
    """The exception's class name, or UNANSWERED; empty if there is only a message."""
    message: str
    """The exception's own message. If a name is unanswered: the class of the value that it has, empty if it has none."""
    line: int = 0
    """The number of a line in the learner's cell; 0 if no frame was theirs."""
    code: str = ""
    """The text of that line."""
    inside: str = ""
    """The library's function that raised it, or called what raised it (``_call_impl``); empty for other code."""
    name: str = ""
    """The variable that was not there, or is something else than asked for; empty if it is not about one."""
    wanted: str = ""
    """The sort that its value should have: ``list``, ``function`` or ``module``; empty if anything will do."""

    @property
    def place(self) -> str:
        """The line as hints look at it, such as ``3: x = y``; empty if no line is the learner's."""
        return f"{self.line}: {self.code}" if self.line else ""


@dataclass(frozen=True)
class ProbeResult:
    """What a probe brought back: evidence, or the trouble that ended it, and what was printed meanwhile."""

    evidence: Evidence = None
    trouble: ProbeError | None = None
    printed: str = ""
    canary: Evidence = None
    """What it brought right after that with a wrong answer of the instructor's in the learner's place, if there is one."""


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    check: str
    """The check's class name; unique within its exercise."""
    asked: str
    """One sentence: what the check asks."""
    passed: bool
    seed: int = 0
    part: str = ""
    """The test cell that it stands in, where that is known."""
    difference: Difference | None = None
    trouble: ProbeError | None = None
    """The error that ended the probe."""
    unjudged: str | None = None
    """Why it could not be judged: an error's name, or nothing if it took more than there is; None if it was."""
    hidden: bool = False
    """Whether learners do not have the check: then they are told no more than the form of the error."""
    hint: str | None = None
    """The id of the misconception; None if none is certain."""
    printed: str = ""
    picture: dict[str, Any] | None = field(default=None, repr=False)
    """The values got and wanted, packed, for a page that draws both; None if no picture helps."""
    compared: tuple[Evidence, object] | None = field(default=None, compare=False, repr=False)
    """The same values as they are, while they are at hand; None if nobody may see them, or nothing came."""

    @property
    def line(self) -> int:
        """The line of the learner's cell where it ended; 0 if it did not end early, or if the line is not known."""
        return self.trouble.line if self.trouble is not None else 0

    @property
    def tells(self) -> bool:
        """Whether it says what is wrong: not if it passed, or if nobody got as far as asking."""
        causes = (self.difference, self.trouble, self.unjudged)
        return any(cause is not None for cause in causes) or (self.hidden and not self.passed)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Finding:
        """Make it from the dictionary that ``dataclasses.asdict`` has made of it."""
        difference = data["difference"] and Difference.from_dict(data["difference"])
        trouble = data["trouble"] and ProbeError(**data["trouble"])
        return cls(**data | {"difference": difference, "trouble": trouble})


def first_wrong(findings: Collection[Finding]) -> Finding | None:
    """The first check that failed: the one that is explained."""
    return next((finding for finding in findings if not finding.passed), None)


class Status(StrEnum):
    """How an exercise ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out of memory"
    KILLED = "killed"
    NOT_ANSWERED = "not answered"
    UNCERTAIN = "uncertain"
    """A text was found that may be the answer. It was not marked: it waits for a person."""


FAULTS = (Status.TIMEOUT, Status.OUT_OF_MEMORY, Status.KILLED)
"""The statuses of exercises that did not end by themselves."""


class Cause(StrEnum):
    """The cause that ended an exercise, if no check did."""

    EXERCISE_TIME = "exercise time"
    NOTEBOOK_TIME = "notebook time"
    MEMORY = "memory"
    DISK = "disk"
    PROCESSES = "processes"
    PROTOCOL = "protocol"
    ENDED = "ended"
    ERROR = "error"
    EARLY = "early"
    LOST = "lost"
    NEWER_PYTHON = "newer Python"
    RIGGED = "rigged"
    NAMES_ENGINE = "names of the engine"


@dataclass(frozen=True)
class Reason:
    """Why an exercise ended, or was not marked."""

    cause: Cause
    detail: str = ""
    """An error's text, or what the process did, or why there is no answer."""
    limit: float = 0.0
    """The limit that was passed, in seconds, MB or processes."""


@dataclass(frozen=True)
class Outcome:
    """How one exercise ended."""

    id: str
    """The exercise's id."""
    status: Status
    findings: tuple[Finding, ...]
    """One of each check that was asked. Of a test cell that lost marks, at least one is wrong."""
    points: Mapping[str, float]
    """Test cell -> its marks."""
    most: Mapping[str, float]
    """Test cell -> the marks that can be earned."""
    seconds: float = 0.0
    reason: Reason | None = None
    """None if a check, or nothing, ended it."""

    @property
    def max_score(self) -> float:
        """The sum of the marks that can be earned."""
        return sum(self.most.values())

    @property
    def score(self) -> float:
        """The sum of its marks."""
        return sum(self.points.values())

    @property
    def is_whole(self) -> bool:
        """Whether it earned every point."""
        return self.score >= self.max_score

    def is_whole_in(self, part: str) -> bool:
        """Whether nothing is wrong in one test cell, also if there are no points to earn."""
        return self.points[part] == self.most[part] and first_wrong(self.findings_of(part)) is None

    def findings_of(self, part: str) -> tuple[Finding, ...]:
        """The findings of one test cell."""
        return tuple(finding for finding in self.findings if finding.part == part)

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The first check that failed in each test cell, if one did."""
        firsts = (first_wrong(self.findings_of(part)) for part in self.most)
        return tuple(fault for fault in firsts if fault is not None)

    @property
    def hint(self) -> str | None:
        """The first misconception that a check recognised."""
        return next((fault.hint for fault in self.faults if fault.hint), None)

    @property
    def hints(self) -> tuple[str, ...]:
        """The ids of the misconceptions that cost marks."""
        return tuple(dict.fromkeys(fault.hint for fault in self.costly if fault.hint))

    @property
    def costly(self) -> tuple[Finding, ...]:
        """The faults of test cells that lost marks."""
        return tuple(fault for fault in self.faults if self.points[fault.part] < self.most[fault.part])

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Outcome:
        """Make it from the dictionary that ``dataclasses.asdict`` has made of it."""
        findings = tuple(Finding.from_dict(one) for one in data["findings"])
        reason = data["reason"] and Reason(**data["reason"] | {"cause": Cause(data["reason"]["cause"])})
        return cls(**data | {"status": Status(data["status"]), "findings": findings, "reason": reason})


class CheckFailed(AssertionError):
    """Ends a test cell after a check failed; says what is wrong without a traceback of the grader's insides."""

    def __init__(self, finding: Finding, text: str, briefly: str) -> None:
        super().__init__(text)
        self.finding = finding
        self.briefly = briefly
        """What stands below the panel, which has said everything."""

    def _render_traceback_(self) -> list[str]:
        # IPython shows these lines instead of a traceback through the checker. In a notebook the panel above has
        # said everything; nbgrader's Validate, and a terminal, show the error without it.
        from nbproof.front_end import shell

        if "NBGRADER_EXECUTION" not in os.environ and shell() is not None:
            return [f"{type(self).__name__}: {self.briefly}"]
        lines = str(self).splitlines()
        shown = lines if "NBGRADER_EXECUTION" in os.environ else lines[:1]
        return [f"{type(self).__name__}: " + "\n".join(shown)]
