"""Mark one submission: drive a worker through its cells, judge what it brings, name how each exercise ended."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from course.grading import wire
from course.grading.compared import pack
from course.grading.engine import Engine, Worker
from course.grading.exceptions import WorkerLost
from course.grading.judge import Judge
from course.grading.outputs import Outputs
from course.grading.rebuild import Blueprint, Rebuilt
from course.grading.results import CellRun, ExerciseVerdict, SubmissionVerdict, TestVerdict
from course.grading.written import written_in
from course.notebook import readable
from course.results import Brought, Finding, Trouble

__all__ = ["mark"]

_OUT_OF_MEMORY = ("MemoryError", "DefaultCPUAllocator", "can't allocate memory", "Cannot allocate memory")


def mark(
    engine: Engine, blueprint: Blueprint, judge: Judge, rebuilt: Rebuilt, learner: str, files: dict[str, bytes],
    only: Collection[str] = (), skip: Collection[str] = (),
) -> SubmissionVerdict:  # fmt: skip
    """The verdict on a rebuilt submission. Whatever the learner's code does ends in a status, not in an exception.

    ``only``: exercises to be tested, all where it is empty; the verdict holds no others, but their cells run, because
    later ones may need them. ``skip``: exercises whose cells do not run either, because they are known to do harm.
    """
    return _Marking(engine, blueprint, judge, rebuilt, files, only, skip).run(learner)


@dataclass
class _Progress:
    """What is known of one exercise so far."""

    id: str
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    loss: WorkerLost | None = None
    error: str = ""
    seconds: float = 0.0

    def ran_out_of_memory(self) -> bool:
        """Whether an error, of its cell or of a check, says so."""
        found = [finding.sentence for findings in self.findings.values() for finding in findings]
        return any(word in text for text in (self.error, *found) for word in _OUT_OF_MEMORY)

    def is_harmless(self) -> bool:
        """Whether its cell may run again, for the exercises after it."""
        return self.loss is None and not self.ran_out_of_memory()


class _Marking:
    def __init__(
        self, engine: Engine, blueprint: Blueprint, judge: Judge, rebuilt: Rebuilt, files: dict[str, bytes],
        only: Collection[str], skip: Collection[str],
    ) -> None:  # fmt: skip
        self.engine, self.blueprint, self.judge, self.rebuilt, self.files = engine, blueprint, judge, rebuilt, files
        self.limits = engine.limits
        self.outputs = Outputs(self.limits.output_bytes + 1_000)
        self.exercises = {name: _Progress(name) for name in blueprint.stubs}
        self.only = set(only) or set(blueprint.stubs)
        self.order = _needed(blueprint, self.only, skip)
        self.runs: dict[str, CellRun] = {}
        self.peak = 0.0

    def run(self, learner: str) -> SubmissionVerdict:
        self.engine.wait_until_ready()
        start = time.monotonic()
        self.until = start + self.limits.submission_seconds
        position, replay = 0, True
        while position < len(self.order):
            try:
                with self.engine.worker(self.files) as worker:
                    try:
                        if not self._catch_up(worker, position, replay):
                            # What ran before ends the process again: this fork goes without it.
                            replay = False
                            continue
                        position = self._go_on(worker, position)
                    finally:
                        self.peak = max(self.peak, worker.peak_mb)
            except WorkerLost:
                replay = False
                position = max(position, self._after_setup())
            if time.monotonic() > self.until:
                self._give_up(position)
                break
        verdicts = tuple(self._verdict(progress) for name, progress in self.exercises.items() if name in self.only)
        return SubmissionVerdict(
            learner, self.blueprint.lesson, self.judge.seed, verdicts, dict(self.rebuilt.answers), self.runs,
            dict(self.rebuilt.recovered), time.monotonic() - start, self.peak,
            written=written_in(self.blueprint.written, self.rebuilt.answers), lost=dict(self.rebuilt.lost),
            damage=self.rebuilt.damage, newer=self.rebuilt.newer,
        )  # fmt: skip

    def _after_setup(self) -> int:
        return next((i for i, (kind, _) in enumerate(self.order) if kind != "setup"), 0)

    def _catch_up(self, worker: Worker, position: int, replay: bool) -> bool:
        """Bring a fresh fork to ``position``: read-only cells, and the TODO cells before that did no harm."""
        for kind, name in self.order[:position]:
            worker.deadline = min(time.monotonic() + self.limits.exercise_seconds, self.until)
            try:
                if kind == "setup":
                    self._execute(worker, self.blueprint.setup[name])
                elif kind == "answer" and replay and self.exercises[name].is_harmless():
                    self._execute(worker, self.rebuilt.answers[name])
            except WorkerLost:
                if kind == "setup" or not replay:
                    raise
                return False
        return True

    def _go_on(self, worker: Worker, position: int) -> int:
        """Run cells from ``position`` until all are done or an exercise takes the worker with it; where to go on."""
        order = self.order
        full = False
        while position < len(order):
            kind, name = order[position]
            if full and kind == "answer":
                # What fills the memory stays in it: the next exercise gets a fork of its own.
                return position
            if kind == "setup":
                worker.deadline = min(time.monotonic() + self.limits.exercise_seconds, self.until)
                self._execute(worker, self.blueprint.setup[name])
                position += 1
                continue
            exercise = self.exercises[name if kind == "answer" else self.blueprint.tests[name].exercise]
            start = time.monotonic()
            worker.deadline = min(start + self.limits.exercise_seconds - exercise.seconds, self.until)
            try:
                if kind == "answer":
                    self.runs[name] = run = self._cell(worker, self.rebuilt.answers[name])
                    exercise.error = run.error
                elif exercise.id not in self.only:
                    self._define(worker, name)
                elif not self._untouched(exercise.id):
                    self._test(worker, exercise, name)
            except WorkerLost as loss:
                exercise.loss = loss
                exercise.seconds += time.monotonic() - start
                return self._next_exercise(position, exercise.id)
            exercise.seconds += time.monotonic() - start
            full = full or exercise.ran_out_of_memory()
            position += 1
        return position

    def _next_exercise(self, position: int, lost: str) -> int:
        """The next cell that is not a test of the exercise that was lost."""
        order = self.order
        position += 1
        while position < len(order):
            kind, name = order[position]
            if not (kind == "test" and self.blueprint.tests[name].exercise == lost):
                break
            position += 1
        return position

    def _give_up(self, position: int) -> None:
        """The submission's time is over: whatever was not reached timed out."""
        for kind, name in self.order[position:]:
            if kind == "answer" and self.exercises[name].loss is None and not self.exercises[name].findings:
                self.exercises[name].loss = WorkerLost("timeout", "the submission's time was over")

    def _untouched(self, name: str) -> bool:
        """Whether the TODO cell is as handed out: that earns nothing (the author contract proves it), untested."""
        return self.rebuilt.answers[name].strip() in ("", self.blueprint.stubs[name].strip())

    def _execute(self, worker: Worker, source: str) -> dict[str, Any]:
        number = len(self.runs) + len(self.blueprint.setup) + 1
        answer, _ = worker.request({"op": "cell", "source": source, "count": number}, {"outputs": list})
        return {**answer, "number": number}

    def _cell(self, worker: Worker, source: str) -> CellRun:
        answer = self._execute(worker, source)
        return CellRun(self.outputs.clean(answer["outputs"], answer["number"]), _told(answer.get("error")))

    def _test(self, worker: Worker, exercise: _Progress, name: str) -> None:
        part = self.blueprint.tests[name].probe
        # Anew: where a setup cell was lost, its exercises are run once more.
        findings = exercise.findings[name] = []
        failed: set[str] = set()
        for check, seed in self.judge.plan(name):
            if check in failed:
                continue
            request = {"op": "probe", "test": name, "check": check, "seed": seed}
            if name not in worker.knows:
                worker.knows.add(name)
                request["source"] = part.source
            answer, payload = worker.request(request, {"printed": str})
            try:
                brought = _brought(answer, payload)
            except wire.WireError as error:
                raise WorkerLost("protocol", str(error)) from None
            began = time.monotonic()
            finding = self.judge.verdict(name, exercise.id, check, seed, brought)
            # The judge's time is not the learner's: the first of a class waits for every truth.
            worker.deadline += time.monotonic() - began
            exercise.seconds -= time.monotonic() - began
            findings.append(finding)
            if not finding.passed:
                failed.add(check)

    def _define(self, worker: Worker, name: str) -> None:
        """As a notebook would, have a test cell's names there for the cells below it. Nothing is tested."""
        source = self.blueprint.tests[name].probe.source
        worker.knows.add(name)
        worker.request({"op": "define", "test": name, "source": source}, {"defined": bool})

    def _verdict(self, progress: _Progress) -> ExerciseVerdict:
        tests = tuple(
            self._test_verdict(progress, name)
            for name, test in self.blueprint.tests.items()
            if test.exercise == progress.id
        )
        status, sentence = self._status(progress, tests)
        hint = next((test.hint for test in tests if test.hint), None)
        return ExerciseVerdict(progress.id, status, sentence, tests, hint, progress.seconds)

    def _test_verdict(self, progress: _Progress, name: str) -> TestVerdict:
        test, asked = self.blueprint.tests[name], self.judge.asked(name)
        found = progress.findings.get(name, [])
        wrong = [finding for finding in found if not finding.passed]
        bad = {finding.check for finding in wrong}
        whole = len(found) == len(self.judge.plan(name)) and not wrong and progress.loss is None
        first = wrong[0] if wrong else Finding(progress.id, "", "", False, 0)
        return TestVerdict(
            name, test.points if whole else 0.0, test.points,
            tuple(asked[check] for check in asked if check not in bad and any(f.check == check for f in found)),
            tuple(asked[check] for check in asked if check in bad),
            first.sentence, first.asked or next(iter(asked.values()), ""), first.where, first.got, first.wanted,
            first.hint, first.line, first.printed, pack(first.compared),
        )  # fmt: skip

    def _status(self, progress: _Progress, tests: tuple[TestVerdict, ...]) -> tuple[str, str]:
        loss = progress.loss
        if loss is not None and loss.cause == "timeout":
            return "timeout", (
                f"Your code was still running after {self.limits.exercise_seconds:g} seconds, the limit for one exercise."
                if not loss.detail else f"The time for the whole notebook, {self.limits.submission_seconds:g} seconds, was over."
            )  # fmt: skip
        if loss is not None and loss.cause == "memory":
            return "out of memory", f"Your code used more than {self.limits.memory_mb} MB of memory."
        if loss is not None and loss.cause == "protocol":
            return "killed", f"Your code interfered with the process that it ran in: {loss.detail}."
        if loss is not None:
            return "killed", f"Your code ended the process that it ran in: {loss.detail}."
        if all(test.score == test.max_score for test in tests):
            return "passed", "Every check passed."
        if self._untouched(progress.id):
            return "not answered", self.rebuilt.lost.get(progress.id) or "The TODO cell is as it was handed out."
        told = next((test for test in tests if test.sentence), None)
        if progress.ran_out_of_memory():
            return "out of memory", f"Your code used more than {self.limits.memory_mb} MB of memory."
        if progress.error:
            return "error", f"Your cell ended with an error: {progress.error}"
        if told is None:
            return "killed", "Your code ended before every check had run."
        if told.where or not told.line:
            return "failed", told.sentence
        return "error", f"{told.sentence} ({told.line})"


def _needed(blueprint: Blueprint, only: Collection[str], skip: Collection[str]) -> list[tuple[str, str]]:
    """The cells that run, as in ``Blueprint.order``: up to the last test that is wanted."""
    order = [(kind, name) for kind, name in blueprint.order if kind != "answer" or name in only or name not in skip]
    order = [
        (kind, name) for kind, name in order
        if kind != "test" or blueprint.tests[name].exercise in only or blueprint.tests[name].exercise not in skip
    ]  # fmt: skip
    wanted = [i for i, (kind, name) in enumerate(order) if name in only or _tests_one_of(blueprint, kind, name, only)]
    return order[: wanted[-1] + 1] if wanted else []


def _tests_one_of(blueprint: Blueprint, kind: str, name: str, exercises: Collection[str]) -> bool:
    return kind == "test" and blueprint.tests[name].exercise in exercises


def _brought(answer: dict[str, Any], payload: bytes) -> Brought:
    trouble = answer.get("trouble")
    if trouble is None:
        return Brought(wire.decode(answer.get("evidence"), payload), printed=readable(answer["printed"][:5_000]))
    if not (isinstance(trouble, list) and len(trouble) == 4 and all(isinstance(text, str) for text in trouble)):
        raise wire.WireError("trouble of no known form")
    kind, message, line, inside = (readable(text[:2000]) for text in trouble)
    return Brought(trouble=Trouble(kind, message, line, inside), printed=readable(answer["printed"][:5_000]))


def _told(error: object) -> str:
    if not (isinstance(error, list) and len(error) == 2):
        return ""
    kind, message = (readable(part[:500]) if isinstance(part, str) else "" for part in error)
    return f"{kind}: {message.splitlines()[0]}" if message.strip() else kind
