"""Mark one submission: drive a worker through its cells, judge what it brings, name how each exercise ended."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from course.grading import wire
from course.grading.engine import Engine, Worker
from course.grading.exceptions import WorkerLost
from course.grading.judge import Judge
from course.grading.rebuild import SMALL, Blueprint, Cells, Damaged, Rebuilt, cells_of
from course.grading.results import CellRun, ExerciseVerdict, SubmissionVerdict, TestVerdict
from course.notebook import readable
from course.results import Brought, Finding, Trouble

__all__ = ["mark", "read_cells"]

_OUT_OF_MEMORY = ("MemoryError", "DefaultCPUAllocator", "can't allocate memory", "Cannot allocate memory")


def read_cells(engine: Engine, data: bytes) -> Cells:
    """A submitted notebook's code cells. A large file is parsed in a sealed fork. Raises Damaged."""
    if len(data) <= SMALL:
        return cells_of(data)
    try:
        with engine.worker({}) as worker:
            answer, _ = worker.request({"op": "notebook"}, {"cells": list, "damaged": str}, data)
    except WorkerLost as loss:
        raise Damaged(f"it is too large to be read: {loss.cause}") from None
    if answer["damaged"]:
        raise Damaged(answer["damaged"])
    return [(name, source) for name, source in answer["cells"]]


def mark(
    engine: Engine, blueprint: Blueprint, judge: Judge, rebuilt: Rebuilt, learner: str, files: dict[str, bytes]
) -> SubmissionVerdict:
    """The verdict on a rebuilt submission. Whatever the learner's code does ends in a status, not in an exception."""
    return _Marking(engine, blueprint, judge, rebuilt, files).run(learner)


@dataclass
class _Progress:
    """What is known of one exercise so far."""

    id: str
    findings: dict[str, list[Finding]] = field(default_factory=dict)
    loss: WorkerLost | None = None
    error: str = ""
    seconds: float = 0.0


class _Marking:
    def __init__(
        self, engine: Engine, blueprint: Blueprint, judge: Judge, rebuilt: Rebuilt, files: dict[str, bytes]
    ) -> None:
        self.engine, self.blueprint, self.judge, self.rebuilt, self.files = engine, blueprint, judge, rebuilt, files
        self.limits = engine.limits
        self.exercises = {name: _Progress(name) for name in blueprint.stubs}
        self.runs: dict[str, CellRun] = {}
        self.peak = 0.0

    def run(self, learner: str) -> SubmissionVerdict:
        start = time.monotonic()
        self.until = start + self.limits.submission_seconds
        position, replay = 0, True
        while position < len(self.blueprint.order):
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
        verdicts = tuple(self._verdict(progress) for progress in self.exercises.values())
        return SubmissionVerdict(
            learner, self.blueprint.lesson, self.judge.seed, verdicts, dict(self.rebuilt.answers), self.runs,
            dict(self.rebuilt.recovered), time.monotonic() - start, self.peak,
        )  # fmt: skip

    def _after_setup(self) -> int:
        return next((i for i, (kind, _) in enumerate(self.blueprint.order) if kind != "setup"), 0)

    def _catch_up(self, worker: Worker, position: int, replay: bool) -> bool:
        """Bring a fresh fork to ``position``: read-only cells, and the TODO cells before that did no harm."""
        for kind, name in self.blueprint.order[:position]:
            worker.deadline = min(time.monotonic() + self.limits.exercise_seconds, self.until)
            try:
                if kind == "setup":
                    self._cell(worker, self.blueprint.setup[name])
                elif kind == "answer" and replay and self.exercises[name].loss is None:
                    self._cell(worker, self.rebuilt.answers[name])
            except WorkerLost:
                if kind == "setup" or not replay:
                    raise
                return False
        return True

    def _go_on(self, worker: Worker, position: int) -> int:
        """Run cells from ``position`` until all are done or an exercise takes the worker with it; where to go on."""
        order = self.blueprint.order
        while position < len(order):
            kind, name = order[position]
            if kind == "setup":
                worker.deadline = min(time.monotonic() + self.limits.exercise_seconds, self.until)
                self._cell(worker, self.blueprint.setup[name])
                position += 1
                continue
            exercise = self.exercises[name if kind == "answer" else self.blueprint.tests[name].exercise]
            start = time.monotonic()
            worker.deadline = min(start + self.limits.exercise_seconds - exercise.seconds, self.until)
            try:
                if kind == "answer":
                    self.runs[name] = run = self._cell(worker, self.rebuilt.answers[name])
                    exercise.error = run.error
                else:
                    self._test(worker, exercise, name)
            except WorkerLost as loss:
                exercise.loss = loss
                exercise.seconds += time.monotonic() - start
                return self._next_exercise(position, exercise.id)
            exercise.seconds += time.monotonic() - start
            position += 1
        return position

    def _next_exercise(self, position: int, lost: str) -> int:
        """The next cell that is not a test of the exercise that was lost."""
        order = self.blueprint.order
        position += 1
        while position < len(order):
            kind, name = order[position]
            if not (kind == "test" and self.blueprint.tests[name].exercise == lost):
                break
            position += 1
        return position

    def _give_up(self, position: int) -> None:
        """The submission's time is over: whatever was not reached timed out."""
        for kind, name in self.blueprint.order[position:]:
            if kind == "answer" and self.exercises[name].loss is None and not self.exercises[name].findings:
                self.exercises[name].loss = WorkerLost("timeout", "the submission's time was over")

    def _cell(self, worker: Worker, source: str) -> CellRun:
        number = len(self.runs) + len(self.blueprint.setup) + 1
        answer, _ = worker.request({"op": "cell", "source": source, "count": number}, {"outputs": list})
        return CellRun(_clean(answer["outputs"], number), _told(answer.get("error")))

    def _test(self, worker: Worker, exercise: _Progress, name: str) -> None:
        part = self.blueprint.tests[name].probe
        findings = exercise.findings.setdefault(name, [])
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
            finding = self.judge.verdict(name, exercise.id, check, seed, brought)
            findings.append(finding)
            if not finding.passed:
                failed.add(check)

    def _verdict(self, progress: _Progress) -> ExerciseVerdict:
        tests = tuple(
            self._test_verdict(progress, name) for name, test in self.blueprint.tests.items() if test.exercise == progress.id
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
            first.sentence, first.asked, first.where, first.got, first.wanted, first.hint, first.line, first.printed,
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
        if loss is not None:
            return "killed", f"Your code ended the process that it ran in: {loss.detail}."
        if all(test.score == test.max_score for test in tests):
            return "passed", "Every check passed."
        stub = self.blueprint.stubs[progress.id].strip()
        if self.rebuilt.answers[progress.id].strip() in ("", stub):
            return "not answered", "The TODO cell is as it was handed out."
        told = next((test for test in tests if test.sentence), None)
        troubles = [told.sentence if told else "", progress.error]
        if any(word in text for text in troubles for word in _OUT_OF_MEMORY):
            return "out of memory", f"Your code used more than {self.limits.memory_mb} MB of memory."
        if progress.error:
            return "error", f"Your cell ended with an error: {progress.error}"
        assert told is not None
        if told.where or not told.line:
            return "failed", told.sentence
        return "error", f"{told.sentence} ({told.line})"


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
    kind, message = (readable(str(part)[:500]) for part in error)
    return f"{kind}: {message.splitlines()[0]}" if message.strip() else kind


_PICTURES = {"image/png", "image/jpeg"}
_TEXTS = {"text/plain", "text/html", "text/markdown"}
_TAGS = (
    "b blockquote br caption code col colgroup dd div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i kbd li ol p pre "
    "s small span strong sub sup table tbody td tfoot th thead tr u ul"
)
_Clean = Callable[[dict[str, Any], int], dict[str, Any] | None]


def _clean(outputs: list[Any], number: int) -> tuple[dict[str, Any], ...]:
    """Outputs of the few forms that a graded notebook shows. Everything else a worker sends is dropped."""
    kept = []
    for output in outputs[:2000]:
        if isinstance(output, dict):
            make = _FORMS.get(str(output.get("output_type")))
            made = make(output, number) if make else None
            if made is not None:
                kept.append(made)
    return tuple(kept)


def _stream(output: dict[str, Any], number: int) -> dict[str, Any] | None:
    if output.get("name") not in ("stdout", "stderr") or not isinstance(output.get("text"), str):
        return None
    return {"output_type": "stream", "name": output["name"], "text": output["text"]}


def _error(output: dict[str, Any], number: int) -> dict[str, Any] | None:
    lines = output.get("traceback")
    if not isinstance(lines, list):
        return None
    told = {key: str(output.get(key))[:5_000] for key in ("ename", "evalue")}
    return {"output_type": "error", **told, "traceback": [str(line)[:5_000] for line in lines[:300]]}


def _display(output: dict[str, Any], number: int) -> dict[str, Any] | None:
    data = output.get("data")
    if not isinstance(data, dict):
        return None
    shown = {kind: _harmless(kind, text) for kind, text in data.items() if kind in _PICTURES | _TEXTS and isinstance(text, str)}
    made: dict[str, Any] = {"output_type": output["output_type"], "data": shown, "metadata": {}}
    if output["output_type"] == "execute_result":
        made["execution_count"] = number
    return made if shown else None


def _harmless(kind: str, text: str) -> str:
    """A display without anything that runs: graded notebooks are read by instructors, logged in."""
    if kind in _PICTURES:
        # Pages put a picture's text into an attribute, as it is.
        return text if re.fullmatch(r"[A-Za-z0-9+/=\s]*", text) else ""
    if kind == "text/plain":
        return text
    from nbconvert.preprocessors.sanitize import SanitizeHTML

    cleaner = SanitizeHTML(
        tags=_TAGS.split(), attributes={"td": ["colspan", "rowspan"], "th": ["colspan", "rowspan"]}, strip=True
    )
    return str(cleaner.sanitize_html_tags(text))


_FORMS: dict[str, _Clean] = {"stream": _stream, "error": _error, "display_data": _display, "execute_result": _display}
