"""Run a submission's cells in workers, once from top to bottom, whatever is lost on the way.

What workers bring is kept and judged when the last of them has ended: no request, no pause and no restart depends on
whether a check passed. A step that is lost is not tried again; the next fork takes the steps before it over and goes on
behind it. So nobody is asked twice.

What a worker answers is taken into the forms that marking works with: learner code may have made up every word of it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from nbproof.cells import CellKind
from nbproof.checks.test_cells import ProbePart
from nbproof.marking.blueprint import Blueprint, Rebuilt
from nbproof.marking.judge import Brought, Judge
from nbproof.marking.program import Step
from nbproof.marking.verdicts import Progress, says_out_of_memory
from nbproof.sandbox import wire
from nbproof.sandbox.cell_names import CellNames
from nbproof.sandbox.engine import Engine
from nbproof.sandbox.exceptions import WorkerLost
from nbproof.sandbox.worker_handle import Worker
from nbproof.text import printable, readable
from nbproof.values.results import ProbeError

__all__ = ["Execution", "brought_by", "error_told", "names_told"]


def names_told(answer: dict[str, Any], cells: int, edited: int) -> tuple[list[CellNames], list[str]]:
    """What it says of the names of ``cells`` texts, and what was added to ``edited`` ones. Raises WorkerLost for another form."""
    told, added = answer["names"], answer["added"]
    if len(told) != cells or len(added) != edited or not all(isinstance(text, str) for text in added):
        raise WorkerLost("protocol", "it answered what was not asked")
    found = []
    for one in told:
        if not (isinstance(one, list) and len(one) == 7 and all(isinstance(part, list) for part in one[:6])):
            raise WorkerLost("protocol", "it answered what was not asked")
        parts = (frozenset(name for name in part if isinstance(name, str)) for part in one[:6])
        binds, now, later, defines, changes, lasting = parts
        found.append(CellNames(binds, now, later, defines, changes, lasting, bool(one[6])))
    return found, added


def brought_by(check: str, seed: int, answer: dict[str, Any], payload: bytes) -> Brought:
    """What a probe brought: evidence, still packed, or trouble. Raises WireError for trouble of another form."""
    trouble, printed = answer.get("trouble"), readable(answer["printed"][:5_000])
    if trouble is None:
        return Brought(check, seed, payload, printed=printed)
    if not (isinstance(trouble, list) and len(trouble) == 4 and all(isinstance(text, str) for text in trouble)):
        raise wire.WireError("trouble of no known form")
    kind, message, line, inside = (printable(text[:2000]) for text in trouble)
    return Brought(check, seed, b"", ProbeError(kind, message, line, inside), printed)


def error_told(error: object) -> str:
    """The error that ended a cell, on one line; empty if there is none, or it has another form."""
    if not (isinstance(error, list) and len(error) == 2):
        return ""
    kind, message = (part[:500] if isinstance(part, str) else "" for part in error)
    return printable(f"{kind}: {message.splitlines()[0]}" if message.strip() else kind)


_MOST_KEPT = 128 << 20
"""Bytes of evidence that are kept of one submission until it is judged. Answers to all exercises of a lesson bring one."""


class Execution:
    """One run of a submission's cells. Those who derive from it say what becomes of answers and tests."""

    def __init__(
        self,
        engine: Engine,
        blueprint: Blueprint,
        judge: Judge,
        rebuilt: Rebuilt,
        files: dict[str, bytes],
        exercises: Mapping[str, Progress],
    ) -> None:
        self.engine, self.blueprint, self.judge, self.rebuilt, self.files = engine, blueprint, judge, rebuilt, files
        self.limits = engine.limits
        self.exercises = exercises
        self.order: Sequence[Step] = ()
        self.texts: Mapping[str, str] = {}
        """Of steps that show something, or are the learner's own."""
        self.touched: Collection[str] = ()
        self.harmful: set[str] = set()
        """Steps that took a process with them while nobody was asked anything: later forks do without."""
        self.own_seconds = self.limits.submission_seconds / 3
        """What is left for all cells that nobody marks."""
        self.spent = dict.fromkeys(exercises, 0.0)
        """Seconds of each exercise in this run."""
        self.peak = self.seconds = 0.0
        self.until = 0.0
        self.intact = True
        """Whether the first worker has run everything so far, and no exercise has filled its memory."""

    def prepare(self, worker: Worker) -> None:
        """Decide what runs, in a fresh worker."""

    def prepare_without(self) -> None:
        """Decide what runs, after :meth:`prepare` has lost the worker."""

    def answer(self, worker: Worker, exercise: Progress) -> None:
        """Run a TODO cell."""
        raise NotImplementedError

    def test(self, worker: Worker, exercise: Progress, name: str) -> None:
        """Ask what a test cell asks."""
        raise NotImplementedError

    def finish(self, worker: Worker) -> None:
        """Everything has run, in the one worker that is still there."""

    def run(self) -> None:
        """Run everything. Whatever the learner's code does ends in a loss that is noted."""
        self.engine.wait_until_ready()
        start = time.monotonic()
        self.until = start + self.limits.submission_seconds
        position = -1
        while position < len(self.order):
            with self.engine.worker(self.files) as worker:
                try:
                    position = self._in(worker, position)
                finally:
                    self.peak = max(self.peak, worker.peak_mb)
            if time.monotonic() > self.until:
                self._give_up(position)
                break
            # Whoever comes now is another one.
            self.intact = False
        self.seconds = time.monotonic() - start

    def _in(self, worker: Worker, position: int) -> int:
        if position < 0:
            try:
                self.prepare(worker)
            except WorkerLost:
                self.prepare_without()
                return 0
            position = 0
        if not self._catch_up(worker, position):
            return position
        position = self._go_on(worker, position)
        if position == len(self.order) and self.intact:
            self.finish(worker)
        return position

    def _catch_up(self, worker: Worker, position: int) -> bool:
        """Bring a fresh fork to ``position``: all cells before, without those that did harm.

        False if one of those ends the process this time: another fork goes without it.
        """
        for place, (kind, name) in enumerate(self.order[:position]):
            if name in self.harmful:
                continue
            self.allow(worker, self.limits.exercise_seconds)
            try:
                if kind is CellKind.SETUP:
                    self.execute(worker, self.blueprint.setup[name])
                elif kind in (CellKind.OWN, CellKind.SHOW):
                    self._aside(worker, name)
                elif kind is CellKind.ANSWER and self.exercises[name].is_harmless():
                    self.execute(worker, self.rebuilt.answers[name])
                elif kind is CellKind.TEST and self._is_harmless_and_plain(name):
                    # Cells below may need what it has defined.
                    self.execute(worker, self.blueprint.tests[name].shown_source)
            except WorkerLost:
                # That it can be run once does not mean that it can be run again: no exercise loses anything by that.
                self.harmful |= self._suspects(place) or {name} if kind is CellKind.SETUP else {name}
                return False
        return True

    def _is_harmless_and_plain(self, test: str) -> bool:
        exercise = self.exercises[self.blueprint.tests[test].exercise]
        return test in self.blueprint.plain and exercise.is_harmless()

    def _suspects(self, place: int) -> set[str]:
        """Which of the learner's steps may be why a setup cell was lost: all that nobody marks, else the last answer."""
        before = [(kind, name) for kind, name in self.order[:place] if name not in self.harmful]
        own = {name for kind, name in before if kind in (CellKind.OWN, CellKind.SHOW)}
        answers = [name for kind, name in before if kind is CellKind.ANSWER and self.exercises[name].is_harmless()]
        return own or set(answers[-1:])

    def _go_on(self, worker: Worker, position: int) -> int:
        """Run steps from ``position`` until all are done, or one of them takes the worker with it; where to go on."""
        full = False
        while position < len(self.order):
            kind, name = self.order[position]
            if full and kind is CellKind.ANSWER:
                # What fills the memory stays in it: the next exercise gets a fork of its own.
                return position
            exercise = self._exercise_of(kind, name)
            start = time.monotonic()
            try:
                if kind is CellKind.SETUP:
                    self.allow(worker, self.limits.exercise_seconds)
                    if name not in self.harmful:
                        self.execute(worker, self.blueprint.setup[name])
                elif exercise is None:
                    self._aside(worker, name)
                else:
                    self.allow(worker, self.limits.exercise_seconds - self.spent[exercise.id])
                    if kind is CellKind.ANSWER:
                        self.answer(worker, exercise)
                    else:
                        self.test(worker, exercise, name)
            except WorkerLost as loss:
                self.intact = False
                return self._after(loss, position)
            finally:
                if exercise is not None:
                    self.spent[exercise.id] += time.monotonic() - start
            if exercise is not None and exercise.out_of_memory:
                full, self.intact = True, False
            position += 1
        return position

    def _exercise_of(self, kind: str, name: str) -> Progress | None:
        if kind not in (CellKind.ANSWER, CellKind.TEST):
            return None
        return self.exercises[name if kind is CellKind.ANSWER else self.blueprint.tests[name].exercise]

    def _after(self, loss: WorkerLost, position: int) -> int:
        """Whose loss it is, and where the next worker goes on."""
        kind, name = self.order[position]
        exercise = self._exercise_of(kind, name)
        if exercise is not None:
            exercise.loss = loss
            return self._behind(position + 1, exercise.id)
        if kind is not CellKind.SETUP:
            self.harmful.add(name)
            return position + 1
        # The instructor's cell does no harm: what ran before it does. It is not asked again, it pays.
        suspects = self._suspects(position)
        for one in suspects & self.exercises.keys():
            self.exercises[one].loss = loss
        self.harmful |= suspects or {name}
        return position

    def _behind(self, position: int, lost: str) -> int:
        """The next step that is not a test of the exercise that was lost."""
        while position < len(self.order):
            kind, name = self.order[position]
            if not (kind is CellKind.TEST and self.blueprint.tests[name].exercise == lost):
                break
            position += 1
        return position

    def _give_up(self, position: int) -> None:
        """The submission's time is over: whatever was not reached timed out."""
        for kind, name in self.order[max(position, 0) :]:
            exercise = self._exercise_of(kind, name)
            if exercise is not None and exercise.loss is None and (kind is CellKind.ANSWER or self.is_asked(name)):
                exercise.loss = WorkerLost("timeout", "the submission's time was over")

    def is_asked(self, test: str) -> bool:
        """Whether there is anything to be asked: not of a TODO cell as it was handed out, nor of what waits for a person."""
        exercise = self.blueprint.tests[test].exercise
        if self.rebuilt.waits(self.blueprint, exercise):
            return False
        return (
            test in self.blueprint.plain
            or exercise in self.touched
            or not self.rebuilt.is_untouched(self.blueprint, exercise)
        )

    # What a worker is asked.

    def allow(self, worker: Worker, seconds: float) -> None:
        """What comes next may take so long, and no longer than the submission may."""
        worker.deadline = min(time.monotonic() + seconds, self.until)

    def execute(self, worker: Worker, source: str, number: int = 1, **more: int) -> dict[str, Any]:
        """Run a text as a notebook would."""
        answer, _ = worker.request({"op": "cell", "source": source, "count": number, **more}, {"outputs": list})
        return answer

    def define(self, worker: Worker, name: str) -> None:
        """As a notebook would, have a test cell's names there for the cells below it. Nothing is tested."""
        test = self.blueprint.tests[name]
        if test.plain is not None:
            self.execute(worker, test.shown_source)
            return
        worker.request({"op": "define", "test": name, "source": test.shown.source}, {"defined": bool})

    def probe(self, worker: Worker, exercise: Progress, name: str, part: ProbePart, checks: Collection[str]) -> None:
        """Ask all cases of these checks of a test cell, one after another, and keep what is brought."""
        known = False
        for check, seed in self.judge.plan(name):
            if check not in checks:
                continue
            request: dict[str, Any] = {"op": "probe", "test": name, "check": check, "seed": seed}
            if not known:
                known, request["source"] = True, part.source
            answer, payload = worker.request(request, {"printed": str})
            try:
                brought = brought_by(check, seed, answer, payload)
            except wire.WireError as error:
                raise WorkerLost("protocol", str(error)) from None
            exercise.replies.setdefault(name, []).append(brought)
            if sum(one.kept_bytes for one in self.exercises.values()) > _MOST_KEPT:
                raise WorkerLost("protocol", f"it brought more than {_MOST_KEPT >> 20} MB in all")
            if brought.trouble is not None and says_out_of_memory(brought.trouble.message):
                exercise.out_of_memory = True

    def _aside(self, worker: Worker, name: str) -> None:
        """Run a cell that nobody marks, within the time that is left for all of them."""
        if name in self.harmful or self.own_seconds <= 0:
            return
        start = time.monotonic()
        self.allow(worker, min(self.limits.exercise_seconds, self.own_seconds))
        try:
            answer = self.execute(worker, self.texts[name])
        finally:
            self.own_seconds -= time.monotonic() - start
        if says_out_of_memory(error_told(answer.get("error"))):
            self.harmful.add(name)
