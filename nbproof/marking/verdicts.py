"""How one exercise ended: its status, one sentence for the learner, and the marks of its test cells.

What a learner is told of a hidden check is our own words, names and lines that were handed in.
By the time a hidden check has brought something, learner code may have read the check itself. So nothing that it says
of itself comes through as it is: no value, no message, no print, no name, no picture. ``docs/engine.md`` counts what is left.
"""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nbproof.course_file import Course
from nbproof.display.help import known_hint
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, written_in
from nbproof.marking.judge_client import Brought, Judge
from nbproof.marking.plain import PlainRun, plain_findings
from nbproof.marking.results import Verdict
from nbproof.recover.answers import Answers
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.sandbox.usage import MAX_FILES
from nbproof.values.compare import Differs
from nbproof.values.leaves import class_names
from nbproof.values.results import UNANSWERED, UNTOLD, Cause, Finding, Outcome, ProbeError, Reason, Status, first_wrong
from nbproof.values.words import words_of

__all__ = [
    "ExerciseRun",
    "OutcomeMaker",
    "as_it_counts_now",
    "counted_by",
    "known_lines",
    "named_in",
    "redacted",
    "says_out_of_memory",
]


_ENGINE = re.compile(
    r"\bnbproof(?:\s*\.\s*|\s+import\b[\w\s,(]{0,200}?\b)(?:sandbox|marking|recover|checks|values|run)\b"
)
"""What nobody names who answers an exercise: the rooms of the engine. What learners import stands in front of them."""


def named_in(texts: Iterable[str]) -> str:
    """The first part of the engine that these texts name; empty if they name none."""
    found = filter(None, map(_ENGINE.search, texts))
    return next((" ".join(one[0].split()) for one in found), "")


_OUT_OF_MEMORY = ("MemoryError", "DefaultCPUAllocator", "can't allocate memory", "Cannot allocate memory")


def says_out_of_memory(text: str) -> bool:
    """Whether an error's text says that memory ran out."""
    return any(word in text for word in _OUT_OF_MEMORY)


def _outcome_of(
    blueprint: Blueprint,
    rebuilt: Answers,
    exercise: str,
    findings: Sequence[Finding],
    points: Mapping[str, float],
    wrong: tuple[Status, Reason | None],
    seconds: float = 0.0,
) -> Outcome:
    """How an exercise ended that ended by itself: it waits, has passed, was not answered, or is ``wrong``."""
    most = {name: test.points for name, test in blueprint.tests.items() if test.exercise == exercise}
    # What was recovered beside an untouched TODO cell has run, and can be wrong.
    untouched = rebuilt.is_untouched(blueprint.stubs, exercise) and exercise not in rebuilt.recovered
    lost = rebuilt.lost.get(exercise)
    reason = Reason(Cause.LOST, lost) if lost else None
    if rebuilt.waits(blueprint.stubs, exercise):
        # A cell of the learner's own may have run, and defined what was asked for. Marks are the person's to give.
        points = dict.fromkeys(points, 0.0)
        status = Status.UNCERTAIN
    elif points == most and first_wrong(findings) is None:
        status, reason = Status.PASSED, None
    elif untouched and not any(points.values()):
        status = Status.NOT_ANSWERED
    else:
        status, reason = wrong
    return Outcome(exercise, status, tuple(findings), points, most, seconds, reason)


@dataclass
class ExerciseRun:
    """What is known of one exercise so far."""

    id: str
    replies: dict[str, list[Brought]] = field(default_factory=dict)
    """By test cell; judged when nobody is asked any more."""
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    plain: dict[str, PlainRun] = field(default_factory=dict)
    """How its plain test cells ended."""
    asked_all: set[str] = field(default_factory=set)
    """Test cells with nothing left to be asked."""
    beyond: bool = False
    """Whether what it brought could not be judged within the limits."""
    rigged: bool = False
    """Whether a wrong answer passed beside it."""
    loss: WorkerLost | None = None
    error: str = ""
    seconds: float = 0.0
    out_of_memory: bool = False
    """Whether an error, of its cell or of a check, said so."""
    interrupted: bool = False
    """Whether one of its cells ran too long, and was interrupted."""

    def is_harmless(self) -> bool:
        """Whether its cell may run again, for the exercises after it."""
        return self.loss is None and not self.out_of_memory

    def has_to_be_asked(self, test: str) -> bool:
        """Whether something of this test cell is left to be asked, and nothing was lost so far."""
        return self.loss is None and test not in self.asked_all


@dataclass(frozen=True)
class OutcomeMaker:
    """Makes the outcomes of the exercises of one submission."""

    blueprint: Blueprint
    judge: Judge
    rebuilt: Answers
    limits: GradingLimits
    named: str = ""
    """A part of the engine that the submission names."""

    def make(self, run: ExerciseRun) -> Outcome:
        """How one exercise ended."""
        findings: list[Finding] = []
        points: dict[str, float] = {}
        for name, test in self.blueprint.tests.items():
            if test.exercise == run.id:
                found, points[name] = self._marked(run, name)
                findings += found
        loss, seconds = run.loss, run.seconds
        if loss is None:
            wrong = self._wrong(run, findings)
            ended = _outcome_of(self.blueprint, self.rebuilt, run.id, findings, points, wrong, seconds)
            return self._looked_at(ended, run)
        most = {name: self.blueprint.tests[name].points for name in points}
        status = _STATUSES.get(loss.cause, Status.KILLED)
        return Outcome(run.id, status, tuple(findings), points, most, seconds, self._lost(loss))

    def _marked(self, run: ExerciseRun, name: str) -> tuple[list[Finding], float]:
        """What the checks of a test cell found, and its marks."""
        test = self.blueprint.plain.get(name)
        if test is not None:
            # What took its process along in hidden lines has passed the others only.
            is_cut_off = run.loss is not None and test.hides and name not in run.asked_all
            ran = None if is_cut_off else run.plain.get(name)
            return plain_findings(test, ran)
        planned = Counter(check for check, _ in self.judge.plan(name))
        findings: list[Finding] = []
        for check, asked in self.judge.asked(name).items():
            cases = [one for one in run.findings.get(name, ()) if one.check == check]
            found = first_wrong(cases)
            if found is None and len(cases) == planned[check] and run.loss is None:
                found = cases[-1]
            if found is None and first_wrong(findings) is None:
                found = Finding(check, asked, False, part=name)  # nobody got that far
            if found is not None:
                findings.append(replace(found, hint=known_hint(self.blueprint.course, found.hint)))
        points = self.blueprint.tests[name].points if first_wrong(findings) is None else 0.0
        return findings, points

    def _looked_at(self, ended: Outcome, run: ExerciseRun) -> Outcome:
        """An exercise that has marks waits for a person if they may rest on what was done to a library, or to the engine."""
        if not ended.score or not (run.rigged or self.named):
            return ended
        reason = Reason(Cause.RIGGED) if run.rigged else Reason(Cause.NAMES_ENGINE, self.named)
        return replace(ended, status=Status.UNCERTAIN, points=dict.fromkeys(ended.points, 0.0), reason=reason)

    def _lost(self, loss: WorkerLost) -> Reason:
        """What ended the process that an exercise ran in."""
        limits = self.limits
        if loss.cause == "timeout" and loss.detail:
            return Reason(Cause.NOTEBOOK_TIME, limit=limits.submission_seconds)
        known = {
            "timeout": Reason(Cause.EXERCISE_TIME, limit=limits.exercise_seconds),
            "memory": Reason(Cause.MEMORY, limit=limits.memory_mb),
            "disk": Reason(Cause.DISK, str(MAX_FILES), limits.disk_mb),
            "processes": Reason(Cause.PROCESSES, limit=limits.processes),
            "protocol": Reason(Cause.PROTOCOL, loss.detail),
        }
        return known.get(loss.cause, Reason(Cause.ENDED, loss.detail))

    def _wrong(self, run: ExerciseRun, findings: Sequence[Finding]) -> tuple[Status, Reason | None]:
        """What to say of an exercise if it is wrong, and ended by itself."""
        if run.out_of_memory:
            return Status.OUT_OF_MEMORY, Reason(Cause.MEMORY, limit=self.limits.memory_mb)
        if run.interrupted:
            return Status.TIMEOUT, Reason(Cause.EXERCISE_TIME, limit=self.limits.exercise_seconds)
        # What Python 3.12 allows in f-strings is the one new thing that learners write without knowing that it is new.
        if run.error.startswith("SyntaxError: f-string") and self.rebuilt.python:
            return Status.UNCERTAIN, Reason(Cause.NEWER_PYTHON, self.rebuilt.python)
        if run.error:
            return Status.ERROR, Reason(Cause.ERROR, run.error)
        fault = next((one for one in findings if one.tells), None)
        if fault is None:
            return Status.KILLED, Reason(Cause.EARLY)
        status = Status.ERROR if fault.line else Status.FAILED
        return status, None


def as_it_counts_now(blueprint: Blueprint, kept: Verdict) -> Verdict:
    """A verdict by the points and texts that its lesson has today. Nothing of it has run again."""
    blank = kept.answers.keys() & {one.id for one in kept.written if not one.answered}
    answers = {**kept.answers, **{name: blueprint.written[name].stub for name in blank}}
    most = {name: test.points for name, test in blueprint.tests.items()}
    return replace(
        kept,
        exercises=tuple(counted_by(most, one) for one in kept.exercises),
        answers=answers,
        written=written_in(blueprint.written, answers),
        titles=blueprint.titles,
    )


def counted_by(points_of: Mapping[str, float], outcome: Outcome) -> Outcome:
    """An outcome by these points of test cells. One that is gone has none."""
    most = {part: points_of.get(part, 0.0) for part in outcome.most}
    points = {}
    for part, earned in outcome.points.items():
        # What waits for a person has earned nothing, also where there was nothing to earn.
        whole = outcome.is_whole_in(part) and (earned > 0 or outcome.status is not Status.UNCERTAIN)
        points[part] = most[part] if whole else min(earned, most[part])
    return replace(outcome, points=points, most=most)


_STATUSES = {"timeout": Status.TIMEOUT, "memory": Status.OUT_OF_MEMORY}
"""What else ends a process kills it."""


_TYPES = frozenset(
    [
        "NoneType",
        "list",
        "dict",
        "tuple",
        "set",
        "str",
        "int",
        "float",
        "bool",
        "function",
        "method",
        "generator",
        "type",
    ]
)
_ERRORS = frozenset(
    name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)
)


def known_lines(rebuilt: Answers) -> frozenset[str]:
    """Every line that was handed in: a message that points at one of them says nothing new."""
    texts = [*rebuilt.answers.values(), *(one.source for one in rebuilt.own)]
    return frozenset(map(str.strip, "\n".join(texts).splitlines())) - {""}


def redacted(course: Course, finding: Finding, names: Collection[str], lines: Collection[str]) -> Finding:
    """The finding of a hidden check without anything that a learner must not know.

    ``names``: those that the check asks for; ``lines``: those that were handed in.
    """
    told = replace(finding, hidden=True, printed="", compared=None, picture=None)
    if finding.trouble is not None:
        return replace(told, trouble=_of_trouble(course, finding.trouble, names, lines))
    difference = finding.difference
    # A place is made of what the truth names; of what the learner's process names where that is one too many.
    if difference is None or difference.kind is Differs.EXTRA:
        return replace(told, difference=None)
    got = words_of(course).text("something else") if difference.got else ""
    return replace(told, difference=replace(difference, got=got, detail=None))


def _of_trouble(course: Course, trouble: ProbeError, names: Collection[str], lines: Collection[str]) -> ProbeError:
    """An error in a hidden check: its kind, if that is a built-in one, and its line, if that was handed in."""
    code = trouble.code if trouble.code in lines else ""
    told = replace(trouble, code=code, inside="", wanted="")
    if trouble.kind == UNANSWERED and trouble.name in names:
        message = trouble.message if trouble.message in {"", *_TYPES, *class_names(course)} else UNTOLD
        return replace(told, message=message)
    kind = trouble.kind if trouble.kind in _ERRORS else ""
    return replace(told, kind=kind, message="", name="")
