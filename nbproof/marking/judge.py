"""The trusted verdict, as the engine asks for it. Truths and comparison happen in a process of their own, which is bounded.

Nothing that a learner's code brought is looked into here: it goes to the judge's process as the bytes that came.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

from nbproof.course_file import the_course
from nbproof.marking.blueprint import Blueprint
from nbproof.sandbox.exceptions import EngineFailed, JudgeFailed, WorkerLost
from nbproof.sandbox.judging import EVIDENCE_MB, EVIDENCE_SECONDS, JudgeProcess
from nbproof.sandbox.wire import WireError
from nbproof.values.results import CheckResult, ProbeError

__all__ = ["Judge", "Judged", "ProbeAnswer"]


_numbers = itertools.count()


@dataclass(frozen=True)
class ProbeAnswer:
    """What a probe brought, as a worker sent it: bytes that nobody has looked into, or trouble."""

    evidence: bytes
    trouble: ProbeError | None = None
    printed: str = ""

    @property
    def size(self) -> int:
        """About how many bytes it takes to keep it."""
        return len(self.evidence) + len(self.printed) + (len(self.trouble.message) if self.trouble else 0)


@dataclass(frozen=True)
class Judged(CheckResult):
    """A finding, and what a picture of it needs (:mod:`nbproof.marking.results`)."""

    picture: dict[str, Any] | None = field(default=None, compare=False, repr=False)
    beyond: bool = False
    """Whether it could not be judged within the limits."""


def _truths() -> dict[str, str]:
    """The modules that only truths use, by name: they are in no tree in which a submission runs, nor in the judge's."""
    course = the_course()
    return {name: course.file_of(name).read_text(encoding="utf-8") for name in course.truths}


@dataclass(frozen=True)
class _Asked:
    check: str
    asks: str
    cases: int


class Judge:
    """The checks of one lesson, ready to be asked. Seeds are the same for a whole class, so a truth is computed once a run."""

    def __init__(self, blueprint: Blueprint, seed: int) -> None:
        self.seed = seed
        self._blueprint = blueprint
        # Two judges of one lesson, with another state of it, share a process and no truth.
        self._name = f"{blueprint.lesson} {next(_numbers)}"
        self._process: JudgeProcess | None = None
        self._generation = 0
        self._asked: dict[str, list[_Asked]] = {}
        self._known: set[tuple[str, str, int]] = set()

    def sit(self, process: JudgeProcess) -> None:
        """Judge in this process from now on. It starts before anybody's time is taken."""
        if process is not self._process:
            self._process, self._generation = process, 0
        with process.lock:
            self._ready(process)

    def plan(self, test: str) -> list[tuple[str, int]]:
        """(check, seed) of every case of a test cell."""
        return [
            (one.check, self.seed * 1000 + number)
            for one in self._checks(test)
            for number in range(1, one.cases + 1)
        ]  # fmt: skip

    def asked(self, test: str) -> dict[str, str]:
        """What each check of a test cell asks."""
        return {one.check: one.asks for one in self._checks(test)}

    def verdict(
        self, test: str, exercise: str, check: str, seed: int, brought: ProbeAnswer, draw: bool = True
    ) -> Judged:
        """The finding on what a probe brought; ``draw`` asks for a picture, too. Raises WireError for bytes of no known form.

        What cannot be judged within the limits fails, with a sentence that says so.
        """
        trouble = brought.trouble
        told = None if trouble is None else [trouble.kind, trouble.message, trouble.line, trouble.inside]
        about = {"lesson": self._name, "test": test, "check": check, "seed": seed}
        question = {**about, "op": "judge", "exercise": exercise, "trouble": told, "printed": brought.printed}
        process = self._sitting()
        with process.lock:
            for _ in range(2):
                self._ready(process, about)
                try:
                    answer = process.ask({**question, "draw": draw}, brought.evidence, bounded=True)
                    break
                except WorkerLost as loss:
                    if loss.cause in ("memory", "timeout"):
                        return self._refused(test, exercise, check, seed, brought)
                    # Ended by nobody here: the machine may have run out of memory, so it has another try.
            else:
                return self._refused(test, exercise, check, seed, brought)
        if "protocol" in answer:
            raise WireError(answer["protocol"])
        if "failed" in answer:
            return self._refused(test, exercise, check, seed, brought, answer["failed"].split(":")[0])
        return Judged(**answer["finding"], picture=answer["picture"])

    def _refused(
        self, test: str, exercise: str, check: str, seed: int, brought: ProbeAnswer, error: str = ""
    ) -> Judged:
        limits = f"within the limits of {EVIDENCE_MB} MB and {EVIDENCE_SECONDS:g} seconds"
        how = f"with what is wanted ({error}); please report this" if error else limits
        sentence = f"What your code brought cannot be compared {how}"
        asks = self.asked(test)[check]
        return Judged(exercise, check, asks, False, seed, sentence, printed=brought.printed, beyond=True)

    def _sitting(self) -> JudgeProcess:
        if self._process is None:
            raise EngineFailed("a judge was asked before it had a process", self._blueprint.lesson, "call sit() first")
        return self._process

    def _checks(self, test: str) -> list[_Asked]:
        if not self._asked:
            process = self._sitting()
            with process.lock:
                self._ready(process)
        return self._asked[test]

    def _ready(self, process: JudgeProcess, about: dict[str, Any] | None = None) -> None:
        """See that the process knows the lesson, and the truth that is asked ``about``. Under its lock.

        Raises EngineFailed if it ends over that, twice: no learner has a part in it.
        """
        for last in (False, True):
            try:
                self._open(process)
                if about is not None:
                    key = (about["test"], about["check"], about["seed"])
                    if key not in self._known:
                        self._prepared(process, {**about, "op": "truth"})
                        self._known.add(key)
                return
            except WorkerLost as loss:
                if last:
                    place = about["test"] if about else self._blueprint.lesson
                    raise EngineFailed(
                        f"the judge's process ended over a truth ({loss})", place, "grade again"
                    ) from None

    def _open(self, process: JudgeProcess) -> None:
        """Give a process that does not know them the lesson's test cells. Under its lock."""
        process.start()
        if self._generation == process.generation:
            return
        # Never a plain one: it is to run beside the learner's code.
        tests = {name: test.source for name, test in self._blueprint.tests.items() if test.plain is None}
        said = self._prepared(process, {"op": "open", "lesson": self._name, "tests": tests, "modules": _truths()})
        self._asked = {name: [_Asked(*one) for one in checks] for name, checks in said["plan"].items()}
        self._known = set()
        self._generation = process.generation

    def _prepared(self, process: JudgeProcess, header: dict[str, Any]) -> dict[str, Any]:
        answer = process.ask(header)
        if "failed" in answer:
            raise JudgeFailed(f"{header.get('test', header['lesson'])}: {answer['failed']}")
        return answer
