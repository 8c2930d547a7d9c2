"""How one exercise ended: its status, one sentence for the learner, and the marks of its test cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nbproof.display.hints import known_hint
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, Rebuilt
from nbproof.marking.judge import Judge, Judged, ProbeAnswer
from nbproof.marking.plain import PlainRun, plain_verdict
from nbproof.marking.results import ALL_PASSED, UNCERTAIN, UNTOUCHED, ExerciseVerdict, TestVerdict
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.sandbox.usage import MAX_FILES

__all__ = ["Progress", "Reply", "Verdicts", "says_out_of_memory", "status_without_error"]

_OUT_OF_MEMORY = ("MemoryError", "DefaultCPUAllocator", "can't allocate memory", "Cannot allocate memory")


def says_out_of_memory(text: str) -> bool:
    """Whether an error's text says that memory ran out."""
    return any(word in text for word in _OUT_OF_MEMORY)


def status_without_error(
    blueprint: Blueprint, rebuilt: Rebuilt, exercise: str, tests: Sequence[TestVerdict]
) -> tuple[str, str] | None:
    """Status and sentence of what waits for a person, passed, or was not answered; None if something is wrong."""
    if rebuilt.waits(blueprint, exercise):
        return UNCERTAIN, rebuilt.lost[exercise]
    if all(test.is_whole for test in tests):
        return "passed", ALL_PASSED
    # What was recovered beside an untouched TODO cell has run, and can be wrong.
    untouched = rebuilt.is_untouched(blueprint, exercise) and exercise not in rebuilt.recovered
    if untouched and not any(test.score for test in tests):
        return "not answered", rebuilt.lost.get(exercise) or UNTOUCHED
    return None


@dataclass(frozen=True)
class Reply:
    """What a worker answered to one probe, as it came."""

    check: str
    seed: int
    brought: ProbeAnswer


@dataclass
class Progress:
    """What is known of one exercise so far."""

    id: str
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    """By test cell; judged when nobody is asked any more."""
    findings: dict[str, list[Judged]] = field(default_factory=dict)
    plain: dict[str, PlainRun] = field(default_factory=dict)
    """How its plain test cells ended."""
    asked_all: set[str] = field(default_factory=set)
    """Test cells of which nothing is left to be asked."""
    beyond: Judged | None = None
    """Said of what it brought, if that could not be judged within the limits."""
    loss: WorkerLost | None = None
    error: str = ""
    seconds: float = 0.0
    out_of_memory: bool = False
    """Whether an error, of its cell or of a check, said so."""

    def is_harmless(self) -> bool:
        """Whether its cell may run again, for the exercises after it."""
        return self.loss is None and not self.out_of_memory

    @property
    def kept_bytes(self) -> int:
        """The size of what was brought and waits for the judge."""
        return sum(one.brought.size for replies in self.replies.values() for one in replies)


@dataclass(frozen=True)
class Verdicts:
    """Makes the verdicts of one submission."""

    blueprint: Blueprint
    judge: Judge
    rebuilt: Rebuilt
    limits: GradingLimits

    def of(self, progress: Progress) -> ExerciseVerdict:
        """The verdict on one exercise."""
        tests = tuple(
            self._test_verdict(progress, name)
            for name, test in self.blueprint.tests.items()
            if test.exercise == progress.id
        )
        status, sentence = self._status(progress, tests)
        hint = next((test.hint for test in tests if test.hint), None)
        return ExerciseVerdict(progress.id, status, sentence, tests, hint, progress.seconds)

    def _test_verdict(self, progress: Progress, name: str) -> TestVerdict:
        test = self.blueprint.tests[name]
        if test.plain is not None:
            return plain_verdict(name, test.points, test.plain, progress.plain.get(name))
        asked = self.judge.asked(name)
        found = progress.findings.get(name, [])
        wrong = [finding for finding in found if not finding.passed]
        bad = {finding.check for finding in wrong}
        whole = len(found) == len(self.judge.plan(name)) and not wrong and progress.loss is None
        first = wrong[0] if wrong else Judged(progress.id, "", "", False, 0)
        return TestVerdict(
            name, test.points if whole else 0.0, test.points,
            tuple(asked[check] for check in asked if check not in bad and any(f.check == check for f in found)),
            tuple(asked[check] for check in asked if check in bad),
            first.sentence, first.asked or next(iter(asked.values()), ""), first.where, first.got, first.wanted,
            known_hint(first.hint), first.line, first.printed, first.picture,
        )  # fmt: skip

    def _status(self, progress: Progress, tests: tuple[TestVerdict, ...]) -> tuple[str, str]:
        loss = progress.loss
        if loss is not None and loss.cause == "timeout":
            return "timeout", (
                f"Your code was still running after {self.limits.exercise_seconds:g} seconds, the limit for one exercise."
                if not loss.detail else f"The time for the whole notebook, {self.limits.submission_seconds:g} seconds, was over."
            )  # fmt: skip
        if loss is not None and loss.cause == "memory":
            return "out of memory", f"Your code used more than {self.limits.memory_mb} MB of memory."
        if loss is not None and loss.cause == "disk":
            return "killed", f"Your code wrote more than {self.limits.disk_mb} MB of files, or {MAX_FILES} of them."
        if loss is not None and loss.cause == "processes":
            return "killed", f"Your code started more than {self.limits.processes} processes and threads."
        if loss is not None and loss.cause == "protocol":
            return "killed", f"Your code interfered with the process that it ran in: {loss.detail}."
        if loss is not None:
            return "killed", f"Your code ended the process that it ran in: {loss.detail}."
        plain = status_without_error(self.blueprint, self.rebuilt, progress.id, tests)
        if plain is not None:
            return plain
        told = next((test for test in tests if test.sentence), None)
        if progress.out_of_memory:
            return "out of memory", f"Your code used more than {self.limits.memory_mb} MB of memory."
        if progress.error:
            return "error", f"Your cell ended with an error: {progress.error}"
        if told is None:
            return "killed", "Your code ended before every check had run."
        if told.where or not told.line:
            return "failed", told.sentence
        return "error", f"{told.sentence} ({told.line})"
