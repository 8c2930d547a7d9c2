"""The trusted verdict, as the engine asks for it. Truths and comparison happen in a process of their own, which is bounded.

Nothing that a learner's code brought is looked into here: it goes to the judge's process as the bytes that came.
"""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, replace
from typing import Any

from nbproof.checks.case import seeds_of
from nbproof.marking.blueprint import Blueprint
from nbproof.sandbox.exceptions import EngineFailed, JudgeFailed, WorkerLost
from nbproof.sandbox.judging import JudgeProcess
from nbproof.sandbox.wire import WireError
from nbproof.values.results import Finding, ProbeError

__all__ = ["Brought", "Judge"]


_numbers = itertools.count()


@dataclass(frozen=True)
class Brought:
    """What the probe of a check brought, as a worker sent it: bytes that nobody has looked into, or trouble."""

    check: str
    seed: int
    evidence: bytes
    trouble: ProbeError | None = None
    printed: str = ""
    canary: bytes = b""
    """What the same probe brought right afterwards, with a wrong answer that the instructor wrote; empty if there is none."""

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        message = self.trouble.message if self.trouble else ""
        return len(self.evidence) + len(self.canary) + len(self.printed) + len(message)


class Judge:
    """The checks of one lesson, ready to be asked. Seeds are the same for a whole class, so a truth is computed once a run."""

    def __init__(self, blueprint: Blueprint, seed: int, process: JudgeProcess) -> None:
        self.seed = seed
        self._blueprint, self._process = blueprint, process
        # Two judges of one lesson, with another state of it, share a process and no truth.
        self._name = f"{blueprint.slug} {next(_numbers)}"
        self._generation = 0
        self._asked: dict[str, list[tuple[str, str, int]]] = {}
        """Test cell -> what each of its checks is called and asks, and how many cases it has."""
        self._known: set[tuple[str, str, int]] = set()

    def prepare(self) -> None:
        """Have the judge's process know the lesson before time is taken. Call it before you ask anything."""
        with self._process.lock:
            self._ready()

    def plan(self, test: str) -> list[tuple[str, int]]:
        """(check, seed) of every case of a test cell."""
        plan = []
        for check, _, cases in self._asked[test]:
            plan += [(check, seed) for seed in seeds_of(cases, self.seed)]
        return plan

    def asked(self, test: str) -> dict[str, str]:
        """Check -> what it asks, of one test cell."""
        return {check: asks for check, asks, _ in self._asked[test]}

    def verdict(self, test: str, brought: Brought, draw: bool = True) -> Finding:
        """The finding on what a probe brought; ``draw`` asks for a picture, too. Raises WireError for bytes of no known form.

        What cannot be judged within the limits fails, and the finding says so.
        """
        told = None if brought.trouble is None else asdict(brought.trouble)
        about = {"lesson": self._name, "test": test, "check": brought.check, "seed": brought.seed}
        question = {**about, "op": "judge", "trouble": told, "printed": brought.printed, "draw": draw}
        answer = self._answered(about, question, brought.evidence)
        if "protocol" in answer:
            raise WireError(answer["protocol"])
        if "finding" in answer:
            return replace(Finding.from_dict(answer["finding"]), part=test)
        return self.unjudged(test, brought, error=answer.get("failed", "").split(":")[0])

    def is_rigged(self, test: str, brought: Brought) -> bool:
        """Whether the wrong answer that was asked there passes. Bytes of no known form were made up."""
        try:
            return self.verdict(test, replace(brought, evidence=brought.canary), draw=False).passed
        except WireError:
            return True

    def unjudged(self, test: str, brought: Brought, error: str = "") -> Finding:
        """The finding on what cannot be judged: for its size, or for an error of that name."""
        name = brought.check
        return Finding(name, self.asked(test)[name], False, brought.seed, test, unjudged=error, printed=brought.printed)

    def _answered(self, about: dict[str, Any], question: dict[str, Any], evidence: bytes) -> dict[str, Any]:
        """The answer of the process; empty if it takes more memory or time than there is."""
        with self._process.lock:
            for _ in range(2):
                self._ready(about)
                try:
                    return self._process.ask(question, evidence, bounded=True)
                except WorkerLost as loss:
                    if loss.cause in ("memory", "timeout"):
                        return {}
                    # Ended by nobody here: the machine may have run out of memory, so it has another try.
        return {}

    def _ready(self, about: dict[str, Any] | None = None) -> None:
        """See that the process knows the lesson, and the truth that is asked ``about``. The caller holds its lock.

        Raises EngineFailed if it ends over that, twice: no learner has a part in it.
        """
        for last in (False, True):
            try:
                self._open()
                if about is not None:
                    key = (about["test"], about["check"], about["seed"])
                    if key not in self._known:
                        self._prepared({**about, "op": "truth"})
                        self._known.add(key)
                return
            except WorkerLost as loss:
                if last:
                    place = about["test"] if about else self._blueprint.slug
                    raise EngineFailed(
                        f"the judge's process ended over a truth ({loss})",
                        place,
                        "grade again; if it ends there again, mend the truth of that check",
                    ) from None

    def _open(self) -> None:
        """Send the lesson's test cells to a process that does not know them. The caller holds its lock."""
        self._process.start()
        if self._generation == self._process.generation:
            return
        # Never a plain one: it is to run beside the learner's code.
        tests = {name: test.source for name, test in self._blueprint.checks.items()}
        # The process of a submission has no file of a module that only truths use, nor has the judge's.
        course = self._blueprint.course
        modules = {name: course.file_of(name).read_text(encoding="utf-8") for name in course.truths}
        said = self._prepared({"op": "open", "lesson": self._name, "tests": tests, "modules": modules})
        self._asked = {name: list(map(tuple, checks)) for name, checks in said["plan"].items()}
        self._known = set()
        self._generation = self._process.generation

    def _prepared(self, header: dict[str, Any]) -> dict[str, Any]:
        answer = self._process.ask(header)
        if "failed" in answer:
            raise JudgeFailed(f"{header.get('test', header['lesson'])}: {answer['failed']}")
        return answer
