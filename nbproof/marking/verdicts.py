"""How one exercise ended: its status, one sentence for the learner, and the marks of its test cells.

What a learner is told of a hidden check is our own words, names and lines that were handed in, and a few numbers.
By the time a hidden check has brought something, learner code may have read the check itself. So nothing that it says
of itself comes through as it is: no message, no print, no name, no picture. ``docs/engine.md`` counts what is left.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from nbproof.course_file import the_course
from nbproof.display.help import known_hint
from nbproof.limits import GradingLimits
from nbproof.marking.blueprint import Blueprint, Rebuilt
from nbproof.marking.judge import Judge, Judged, ProbeAnswer
from nbproof.marking.plain import PlainRun, plain_verdict
from nbproof.marking.results import ALL_PASSED, UNCERTAIN, UNTOUCHED, ExerciseVerdict, TestVerdict
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.sandbox.usage import MAX_FILES
from nbproof.values.leaf import leaf_words
from nbproof.values.results import ProbeError

__all__ = [
    "HIDDEN_FAILED",
    "Progress",
    "Reply",
    "Verdicts",
    "in_few_words",
    "known_lines",
    "says_out_of_memory",
    "status_without_error",
]


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
        if status == UNCERTAIN:
            # A cell of the learner's own may have run, and defined what was asked for. Marks are the person's to give.
            tests = tuple(replace(test, score=0.0) for test in tests)
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


HIDDEN_FAILED = "A hidden check failed"

_NUMBERS = 6
"""Numbers of one field that are told, of four digits each."""
_FORM_WORDS = """
a an of the and is has not at with only array list dict tuple text bool int float function shape dtype item items None True False
nan inf missing there first index result dimension dimensions size uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64
complex64 complex128
"""
_FORM = frozenset(_FORM_WORDS.split())
"""Words that say what form something has; those of leaf types go with them."""
_TYPE_NAMES = """
NoneType list dict tuple set str int float bool function method generator type
"""
_TYPES = frozenset(_TYPE_NAMES.split())
_ERRORS = frozenset(
    name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)
)
_TOKEN = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?|\w+|\s+|.", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?")
_PLACE = re.compile(r"line (\d{1,4}) of your cell(?:: (.*))?", re.DOTALL)
_SIGNS = frozenset("()[]{}.,:=-+…`' ")


_MESSAGES = (
    r"unsupported operand type\(s\) for [-+*/@%&|<>=]{1,3}: <type> and <type>",
    r"<type> object is not (?:callable|subscriptable|iterable)",
    r"<type> object does not support item assignment",
    r"(?:list|tuple) index out of range",
    r"(?:too many|not enough) values to unpack \(expected <n>(?:, got <n>)?\)",
    r"division by zero",
)
"""Messages of Python, in which nothing but small numbers can differ; those of leaf types go with them."""
_WITH_A_NAME = (
    r"<type> object has no attribute '<name>'",
    r"name '<name>' is not defined",
    r"<name>\(\) takes \d positional arguments? but \d (?:was|were) given",
    r"<name>\(\) missing \d required positional arguments?",
)
"""Messages with a name, which must be one that was handed in."""


def _types() -> frozenset[str]:
    return _TYPES.union(leaf_words().types)


@cache
def _pattern(text: str, leaves: tuple[str, ...]) -> re.Pattern[str]:
    """``<n>``: a small number, ``<type>``: a known type in quotes, ``<name>``: a name."""
    library = f"(?:(?:{'|'.join(leaves)})\\.)?" if leaves else ""
    known = rf"'{library}(?:{'|'.join(sorted(_types()))})'"
    filled = text.replace("<n>", r"\d{1,4}").replace("<type>", known).replace("<name>", r"(\w{1,60})")
    return re.compile(filled)


def known_lines(rebuilt: Rebuilt) -> frozenset[str]:
    """Every line that was handed in: whoever points at one of them says nothing new."""
    texts = [*rebuilt.answers.values(), *(one.source for one in rebuilt.own)]
    return frozenset(line.strip() for text in texts for line in text.splitlines() if line.strip())


def in_few_words(finding: Judged, trouble: ProbeError | None, names: Collection[str], lines: Collection[str]) -> Judged:
    """The finding of a hidden check as it may be told.

    ``names``: those that the check asks for; ``lines``: those that were handed in.
    """
    told = replace(finding, printed="", compared=None, picture=None, line="")
    if finding.passed or finding.beyond:
        return told
    if trouble is not None:
        return replace(told, sentence=_of_trouble(trouble, names, lines), line=_place(trouble.line, lines))
    ours = _words_of(finding.asked) | _words_of(finding.wanted)
    got = _in_form(finding.got, ours | _types())
    # A place is made of what the truth names; of what the learner's process names where that is one too many.
    where = finding.where if finding.got != "there" else ""
    if not where:
        return replace(told, where="", got="", wanted="", sentence=f"{HIDDEN_FAILED}.")
    verbs = (
        verb for verb in ("has shape", "has dtype", "has") if finding.sentence.startswith(f"{finding.where} {verb} ")
    )
    verb = next(verbs, "is")
    sentence = f"{where} {verb} {got}" + (f", wanted {finding.wanted}" if finding.wanted else "")
    if not finding.wanted and finding.sentence.endswith("which is not right"):
        sentence += ", which is not right"
    return replace(told, where=where, got=got, sentence=sentence)


def _words_of(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text) if not word.isdigit()}


def _in_form(text: str, ours: Collection[str]) -> str:
    """A text in which nothing but words of form, ours and a few numbers stand; else "something else"."""
    made, numbers = [], 0
    form = _FORM.union(leaf_words().form)
    for token in _TOKEN.findall(text):
        if _NUMBER.fullmatch(token):
            numbers += 1
            if numbers > _NUMBERS:
                made.append("...")
                break
            made.append(_short(token))
        elif token in form or token in ours or token.isspace() or token in _SIGNS:
            made.append(" " if token.isspace() else token)
        else:
            return "something else"
        if len(made) > 60:
            return "something else"
    return "".join(made).strip() or "something else"


def _short(number: str) -> str:
    """Four digits of a number, in the one way to write them."""
    try:
        value = float(number[:40])
    except ValueError:
        return "?"
    if "." not in number and "e" not in number:
        return str(int(value)) if abs(value) < 10_000 else f"{value:.0e}"
    return f"{value:.4g}"


def _of_trouble(trouble: ProbeError, names: Collection[str], lines: Collection[str]) -> str:
    if trouble.kind == "Unanswered":
        name = re.match(r"`(\w{1,60})` is (not defined|a \w+|an \w+|None)\b", trouble.message)
        if name and name[1] in names:
            known = name[2] in ("not defined", "None") or name[2].split()[1] in _types()
            what = name[2] if known else "something else"
            return f"`{name[1]}` is {what} when a hidden check asks for it"
    kind = trouble.kind if trouble.kind in _ERRORS else "An error of another kind"
    said = _message(trouble.message, lines)
    return f"{kind}{': ' + said if said else ''}, in a hidden check"


def _message(message: str, lines: Collection[str]) -> str:
    leaves = the_course().leaves
    if any(_pattern(text, leaves).fullmatch(message) for text in (*_MESSAGES, *leaf_words().messages)):
        return message
    for text in _WITH_A_NAME:
        found = _pattern(text, leaves).match(message)
        if found and not keyword.iskeyword(found[1]) and any(re.search(rf"\b{found[1]}\b", line) for line in lines):
            return found[0]
    return ""


def _place(line: str, lines: Collection[str]) -> str:
    found = _PLACE.fullmatch(line)
    if not found:
        return ""
    number = f"line {int(found[1])} of your cell"
    return f"{number}: {found[2]}" if found[2] in lines else number
